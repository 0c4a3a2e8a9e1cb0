/* SPDX-License-Identifier: BSD-3-Clause */
/* What a virtual function's port puts on its netdev, and takes from it. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_log.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "flow/rule/flow_state.h"
#include "kernel/fdb.h"
#include "kernel/netdev.h"
#include "kernel/vf.h"
#include "port/mac_netdev.h"
#include "rig.h"
#include "state/port_list.h"

#define NETDEV 5
#define MODES  ((unsigned int)(IFF_PROMISC | IFF_ALLMULTI))

/* In place of what asks the kernel, by the linker's --wrap. */
int __wrap_mdv_fdb_add(unsigned int ifindex, const struct rte_ether_addr *mac);
int __wrap_mdv_fdb_remove(unsigned int ifindex, const struct rte_ether_addr *mac);
int __wrap_mdv_netdev_get_mac(unsigned int ifindex, struct rte_ether_addr *mac);
int __wrap_mdv_netdev_set_flags(
	unsigned int ifindex, unsigned int mask, unsigned int flags, unsigned int *before);
void __wrap_mdv_vf_query(const struct mdv_device *device, struct mdv_vf *vf);
void *__real_rte_malloc(const char *type, size_t size, unsigned int align);
void *__wrap_rte_malloc(const char *type, size_t size, unsigned int align);
void *__real_rte_realloc(void *old, size_t size, unsigned int align);
void *__wrap_rte_realloc(void *old, size_t size, unsigned int align);

static struct {
	bool is_vf, has_vfs, has_no_memory, has_no_more;
	int flags_result, mac_result;
	size_t nb_bytes; /**< that the last list had room for */
	unsigned int flags, nb_flags;
	char listed[64];   /**< last bytes of the addresses, as digits, in order of addition */
	char refused;      /**< the digit of an address, 0: none, */
	int refuse_result; /**< its errno */
	unsigned int nb_adds, nb_removes;
} netdev;

static struct rig_port rig;
static struct rte_ether_addr macs[MDV_MAC_MAX + 1], groups[4]; /* the last is not the port's */

static char
digit(const struct rte_ether_addr *mac)
{
	return (char)('0' + mac->addr_bytes[5]);
}

int
__wrap_mdv_fdb_add(unsigned int ifindex, const struct rte_ether_addr *mac)
{
	const char one[2] = { digit(mac), '\0' };

	assert_int_equal(ifindex, NETDEV);
	netdev.nb_adds++;
	if (one[0] == netdev.refused)
		return netdev.refuse_result;
	if (strchr(netdev.listed, one[0]) != NULL)
		return -EEXIST;
	strcat(netdev.listed, one);
	return 0;
}

int
__wrap_mdv_fdb_remove(unsigned int ifindex, const struct rte_ether_addr *mac)
{
	char *at = strchr(netdev.listed, digit(mac));

	assert_int_equal(ifindex, NETDEV);
	netdev.nb_removes++;
	if (digit(mac) == netdev.refused)
		return netdev.refuse_result;
	if (at == NULL)
		return -ENOENT;
	memmove(at, at + 1, strlen(at));
	return 0;
}

int
__wrap_mdv_netdev_get_mac(unsigned int ifindex, struct rte_ether_addr *mac)
{
	assert_int_equal(ifindex, NETDEV);
	if (netdev.mac_result == 0)
		*mac = (struct rte_ether_addr){ { 2, 0, 0, 0, 0, 1 } };
	return netdev.mac_result;
}

int
__wrap_mdv_netdev_set_flags(
	unsigned int ifindex, unsigned int mask, unsigned int flags, unsigned int *before)
{
	if (ifindex == 0)
		return -ENODEV;
	assert_int_equal(ifindex, NETDEV);
	netdev.nb_flags++;
	*before = netdev.flags & mask;
	if (netdev.flags_result == 0)
		netdev.flags = (netdev.flags & ~mask) | flags;
	return netdev.flags_result;
}

void
__wrap_mdv_vf_query(const struct mdv_device *device, struct mdv_vf *vf)
{
	assert_non_null(device);
	*vf = (struct mdv_vf){ .is_vf = netdev.is_vf, .has_vfs = netdev.has_vfs };
}

void *
__wrap_rte_malloc(const char *type, size_t size, unsigned int align)
{
	netdev.nb_bytes = size;
	return netdev.has_no_memory ? NULL : __real_rte_malloc(type, size, align);
}

void *
__wrap_rte_realloc(void *old, size_t size, unsigned int align)
{
	return netdev.has_no_more ? NULL : __real_rte_realloc(old, size, align);
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	memset(&netdev, 0, sizeof(netdev));
	netdev.is_vf = true;
	rig.port.device.ifindex = NETDEV;
	rig.data.port_id = 0;
	memset(macs, 0, sizeof(macs));
	macs[0] = (struct rte_ether_addr){ { 2, 0, 0, 0, 0, 1 } };
	macs[MDV_MAC_MAX] = (struct rte_ether_addr){ { 2, 0, 0, 0, 0, 6 } };
	rig.data.mac_addrs = macs;
	return 0;
}

/** Give the port its own address, those of @p unicast and the groups of @p multicast. */
static void
set_addresses(const char *unicast, const char *multicast)
{
	memset(&macs[1], 0, (MDV_MAC_MAX - 1) * sizeof(macs[0]));
	for (unsigned int i = 0; unicast[i] != '\0'; i++)
		macs[1 + 2 * i] = (struct rte_ether_addr){ { 2, 0, 0, 0, 0, unicast[i] - '0' } };
	rig.port.mc_list = groups;
	rig.port.nb_mc = strlen(multicast);
	for (unsigned int i = 0; i < rig.port.nb_mc; i++)
		groups[i] = (struct rte_ether_addr){ { 1, 0, 0x5e, 0, 0, multicast[i] - '0' } };
}

static void
check_list(const char *unicast, const char *multicast, int result, const char *listed)
{
	set_addresses(unicast, multicast);
	assert_int_equal(mdv_mac_netdev_list(&rig.dev), result);
	assert_string_equal(netdev.listed, listed);
}

/** All that the port may have, beside the groups that it has. */
static void
the_list_has_room(void **state)
{
	(void)state;
	check_list("2", "789", 0, "2789");
	assert_true(netdev.nb_bytes >= (MDV_MAC_MAX + 3) * sizeof(macs[0]));
	mdv_mac_netdev_release(&rig.port);
}

static void
a_netdev_that_does_not_tell_its_own_lists_all(void **state)
{
	(void)state;
	netdev.mac_result = -ENODEV;
	check_list("2", "8", 0, "128");
	mdv_mac_netdev_release(&rig.port);
}

static void
the_netdev_lists_what_it_lacks(void **state)
{
	(void)state;
	check_list("", "", 0, ""); /* it has its own */
	check_list("2", "", 0, "2");
	check_list("23", "78", 0, "2378");
	netdev.nb_adds = 0;
	check_list("23", "78", 0, "2378");
	assert_int_equal(netdev.nb_adds, 0);
	check_list("3", "87", 0, "378");
	check_list("3", "877", 0, "378");
	check_list("", "8", 0, "8");
	/* The first is not the netdev's any more. */
	macs[0].addr_bytes[5] = 4;
	check_list("2", "8", 0, "842");
	macs[0].addr_bytes[5] = 1;
	check_list("2", "", 0, "2");
	mdv_mac_netdev_release(&rig.port);
	assert_string_equal(netdev.listed, "");
	assert_null(rig.port.listed.macs);
	/* And anew, as after a reset. */
	check_list("2", "8", 0, "28");
	mdv_mac_netdev_release(&rig.port);
}

/** As check_list(). @param says what the log has of it, "": nothing */
static void
check_log(const char *unicast, const char *multicast, int result, const char *listed,
	const char *says)
{
	size_t size;
	char *log;
	FILE *stream = open_memstream(&log, &size);

	assert_non_null(stream);
	rte_openlog_stream(stream);
	rte_log_set_level(mdv_log_type, RTE_LOG_WARNING);
	check_list(unicast, multicast, result, listed);
	rte_log_set_level(mdv_log_type, RTE_LOG_EMERG);
	rte_openlog_stream(NULL);
	fclose(stream);
	if (says[0] == '\0' ? size != 0 : strstr(log, says) == NULL)
		fail_msg("not \"%s\": %s", says, log);
	free(log);
}

static void
a_refusal_is_told(void **state)
{
	(void)state;
	check_log("2", "", 0, "2", "");
	netdev.refused = '3';
	netdev.refuse_result = -EPERM;
	check_log("23", "", -EPERM, "2",
		"02:00:00:00:00:03, so the card gives nothing for that address to its virtual");
	netdev.refuse_result = -ENODEV;
	check_log("23", "", 0, "2", "");
	netdev.refuse_result = -EEXIST;
	check_log("23", "", 0, "2", "");
	netdev.is_vf = false;
	netdev.has_vfs = true;
	netdev.refuse_result = -EPERM;
	check_log("23", "", 0, "2", "02:00:00:00:00:03, so what virtual functions of");
	/* One that does not go. */
	netdev.refused = '2';
	check_log("", "", 0, "2", "keeps 02:00:00:00:00:02");
	netdev.refused = '\0';
	check_log("2", "", 0, "2", "");
	netdev.listed[0] = '\0';
	check_log("", "", 0, "", "");
}

static void
what_somebody_has_listed_stays(void **state)
{
	(void)state;
	strcpy(netdev.listed, "3");
	check_list("23", "", 0, "32");
	check_list("", "", 0, "3");
	check_list("3", "", 0, "3");
	mdv_mac_netdev_release(&rig.port);
	assert_string_equal(netdev.listed, "3");
}

static void
a_refusal_is_handed_on(void **state)
{
	(void)state;
	check_list("2", "", 0, "2");
	netdev.refused = '3';
	netdev.refuse_result = -EPERM;
	check_list("234", "8", -EPERM, "2");
	check_list("243", "8", -EPERM, "24");
	/* The caller takes back what was refused. */
	check_list("2", "", 0, "2");
	netdev.has_no_memory = true;
	check_list("", "", -ENOMEM, "2");
	netdev.has_no_memory = false;
	/* A netdev that is gone refuses nothing. */
	netdev.refuse_result = -ENODEV;
	check_list("23", "", 0, "2");
	/* What cannot be removed does not keep the port from its way. */
	netdev.refused = '2';
	netdev.refuse_result = -EPERM;
	check_list("", "", 0, "2");
	netdev.nb_removes = 0;
	mdv_mac_netdev_release(&rig.port);
	assert_int_equal(netdev.nb_removes, 0);
}

static void
other_ports_list_nothing(void **state)
{
	(void)state;
	netdev.is_vf = false;
	check_list("2", "8", 0, "");
	netdev.is_vf = true;
	rig.port.device.ifindex = 0;
	check_list("2", "8", 0, "");
	assert_int_equal(netdev.nb_adds, 0);
	/* The netdev was there, and is gone. */
	rig.port.device.ifindex = NETDEV;
	check_list("2", "8", 0, "28");
	rig.port.device.ifindex = 0;
	check_list("", "", 0, "28");
	assert_int_equal(netdev.nb_removes, 0);
	assert_int_equal(rig.port.listed.nb, 0);
}

/** A switch is in front of it, too, but most frames come to it without being listed. */
static void
a_physical_function_with_virtual_ones_is_listed(void **state)
{
	(void)state;
	netdev.is_vf = false;
	netdev.has_vfs = true;
	check_list("2", "8", 0, "28");
	netdev.refused = '3';
	netdev.refuse_result = -EPERM;
	check_list("23", "8", 0, "28");
	netdev.refused = '\0';
	check_list("23", "", 0, "23");
	netdev.has_vfs = false;
	check_list("23", "", 0, "");
	assert_int_equal(rig.port.listed.nb, 0);
}

static void
check_mode(
	unsigned int flag, bool is_on, unsigned int flags, unsigned int own, unsigned int nb_flags)
{
	netdev.nb_flags = 0;
	mdv_mac_netdev_follow(&rig.dev, flag, is_on);
	assert_int_equal(netdev.flags, flags);
	assert_int_equal(rig.port.netdev_flags, own);
	assert_int_equal(netdev.nb_flags, nb_flags);
}

static void
modes_follow(void **state)
{
	const unsigned int modes[] = { IFF_PROMISC, IFF_ALLMULTI };

	for (unsigned int i = 0; i < RTE_DIM(modes); i++) {
		const unsigned int flag = modes[i], other = MODES & ~flag;

		port_make(state);
		/* No other port's does. */
		netdev.is_vf = false;
		check_mode(flag, true, 0, 0, 0);
		check_mode(flag, false, 0, 0, 0);
		netdev.has_vfs = true;
		check_mode(flag, true, flag, flag, 1);
		netdev.has_vfs = false;
		check_mode(flag, false, 0, 0, 1);
		netdev.is_vf = true;
		rig.port.device.ifindex = 0;
		check_mode(flag, true, 0, 0, 0);
		check_mode(flag, false, 0, 0, 0);
		rig.port.device.ifindex = NETDEV;
		check_mode(flag, true, flag, flag, 1);
		check_mode(flag, true, flag, flag, 0);
		check_mode(flag, false, 0, 0, 1);
		check_mode(flag, false, 0, 0, 0);
		/* Beside the other mode, which somebody else has set. */
		netdev.flags = other;
		check_mode(flag, true, MODES, flag, 1);
		check_mode(flag, false, other, 0, 1);
		/* What somebody has set stays. */
		netdev.flags = flag;
		check_mode(flag, true, flag, 0, 1);
		check_mode(flag, false, flag, 0, 0);
		/* A netdev that refuses is asked again. */
		netdev.flags = 0;
		netdev.flags_result = -EPERM;
		check_mode(flag, true, 0, 0, 1);
		netdev.flags_result = 0;
		check_mode(flag, true, flag, flag, 1);
		netdev.flags_result = -EPERM;
		check_mode(flag, false, flag, flag, 1);
		netdev.flags_result = 0;
		check_mode(flag, false, 0, 0, 1);
	}
}

static void
a_port_that_goes_takes_its_modes_along(void **state)
{
	(void)state;
	netdev.flags = IFF_UP;
	check_mode(IFF_PROMISC, true, IFF_UP | IFF_PROMISC, IFF_PROMISC, 1);
	check_mode(IFF_ALLMULTI, true, IFF_UP | MODES, MODES, 1);
	netdev.nb_flags = 0;
	mdv_mac_netdev_release(&rig.port);
	assert_int_equal(netdev.flags, IFF_UP);
	assert_int_equal(rig.port.netdev_flags, 0);
	assert_int_equal(netdev.nb_flags, 1);
	mdv_mac_netdev_release(&rig.port);
	assert_int_equal(netdev.nb_flags, 1);
}

/** Of which the first has set the netdev's. */
static void
ports_of_one_netdev_share_its_modes(void **state)
{
	struct rig_port other;

	(void)state;
	rig_port_init(&other);
	other.data.port_id = rig.data.port_id + 1;
	other.port.device.ifindex = NETDEV;
	mdv_port_list_add(&other.port);
	for (unsigned int i = 0; i < 3; i++) {
		mdv_port_list_add(&rig.port);
		rig.data.promiscuous = other.data.promiscuous = 1;
		mdv_mac_netdev_follow(&rig.dev, IFF_PROMISC, true);
		mdv_mac_netdev_follow(&other.dev, IFF_PROMISC, true);
		/* One is closed, or leaves the mode; or the other leaves it first. */
		if (i == 0) {
			mdv_port_list_remove(&rig.port);
			mdv_mac_netdev_release(&rig.port);
		} else if (i == 1) {
			rig.data.promiscuous = 0;
			mdv_mac_netdev_follow(&rig.dev, IFF_PROMISC, false);
		}
		assert_int_equal(netdev.flags, IFF_PROMISC);
		assert_int_equal(rig.port.netdev_flags, i == 2 ? IFF_PROMISC : 0);
		assert_int_equal(other.port.netdev_flags, i == 2 ? 0 : IFF_PROMISC);
		other.data.promiscuous = 0;
		mdv_mac_netdev_follow(&other.dev, IFF_PROMISC, false);
		assert_int_equal(netdev.flags, i == 2 ? IFF_PROMISC : 0);
		mdv_mac_netdev_release(&rig.port);
		assert_int_equal(netdev.flags, 0);
	}
	/* A port of another netdev takes nothing over, and one in no mode nothing either. */
	rig.data.promiscuous = other.data.promiscuous = other.data.all_multicast = 1;
	mdv_mac_netdev_follow(&rig.dev, IFF_PROMISC, true);
	other.port.device.ifindex = NETDEV + 1;
	mdv_mac_netdev_release(&rig.port);
	assert_int_equal(netdev.flags, 0);
	other.port.device.ifindex = NETDEV;
	other.data.promiscuous = 0;
	mdv_mac_netdev_follow(&rig.dev, IFF_PROMISC, true);
	mdv_mac_netdev_release(&rig.port);
	assert_int_equal(netdev.flags, 0);
	assert_int_equal(other.port.netdev_flags, 0);
	/* Whoever of them has the lower number. */
	rig.data.promiscuous = 1;
	mdv_mac_netdev_follow(&other.dev, IFF_PROMISC, true);
	assert_int_equal(other.port.netdev_flags, IFF_PROMISC);
	mdv_mac_netdev_release(&other.port);
	assert_int_equal(netdev.flags, IFF_PROMISC);
	assert_int_equal(rig.port.netdev_flags, IFF_PROMISC);
	mdv_mac_netdev_release(&rig.port);
	assert_int_equal(netdev.flags, 0);
	/* Without a netdev they share none. */
	mdv_mac_netdev_follow(&rig.dev, IFF_PROMISC, true);
	other.data.promiscuous = 1;
	rig.port.device.ifindex = other.port.device.ifindex = 0;
	mdv_mac_netdev_release(&rig.port);
	assert_int_equal(other.port.netdev_flags, 0);
	mdv_port_list_remove(&rig.port);
	mdv_port_list_remove(&other.port);
}

/** The other's are found there, as if somebody had listed them. */
static void
ports_of_one_netdev_share_its_list(void **state)
{
	static struct mdv_flow_state flow = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct rte_ether_addr other_macs[MDV_MAC_MAX] = { { { 2, 0, 0, 0, 0, 1 } },
		{ { 2, 0, 0, 0, 0, 3 } } };
	struct rte_ether_addr group = { { 1, 0, 0x5e, 0, 0, 8 } };
	struct rig_port other;

	(void)state;
	rig_port_init(&other);
	other.data.port_id = rig.data.port_id + 1;
	other.data.mac_addrs = other_macs;
	other.port.flow = &flow;
	other.port.device.ifindex = NETDEV;
	other.port.mc_list = &group;
	other.port.nb_mc = 1;
	mdv_port_list_add(&other.port);
	check_list("23", "78", 0, "2378");
	assert_int_equal(mdv_mac_netdev_list(&other.dev), 0);
	assert_int_equal(other.port.listed.nb, 0);
	/* What the first gives up, and what it leaves. */
	check_log("2", "78", 0, "2378", "");
	assert_int_equal(other.port.listed.nb, 1);
	mdv_mac_netdev_release(&rig.port);
	assert_string_equal(netdev.listed, "38");
	assert_int_equal(other.port.listed.nb, 2);
	assert_int_equal(mdv_mac_netdev_list(&other.dev), 0);
	assert_string_equal(netdev.listed, "38");
	/* It is the other's now, and nobody else's. */
	check_list("3", "", 0, "38");
	mdv_mac_netdev_release(&rig.port);
	assert_string_equal(netdev.listed, "38");
	/* And back to who has the lower number. */
	check_list("3", "", 0, "38");
	rig.port.flow = &flow;
	mdv_port_list_add(&rig.port);
	mdv_port_list_remove(&other.port);
	mdv_mac_netdev_release(&other.port);
	assert_string_equal(netdev.listed, "3");
	assert_int_equal(rig.port.listed.nb, 1);
	/* What could not be remembered goes. */
	netdev.has_no_more = true;
	mdv_port_list_add(&other.port);
	mdv_port_list_remove(&rig.port);
	mdv_mac_netdev_release(&rig.port);
	assert_string_equal(netdev.listed, "");
	assert_int_equal(other.port.listed.nb, 0);
	mdv_port_list_remove(&other.port);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_list_has_room, port_make),
		cmocka_unit_test_setup(a_netdev_that_does_not_tell_its_own_lists_all, port_make),
		cmocka_unit_test_setup(the_netdev_lists_what_it_lacks, port_make),
		cmocka_unit_test_setup(what_somebody_has_listed_stays, port_make),
		cmocka_unit_test_setup(a_refusal_is_told, port_make),
		cmocka_unit_test_setup(a_refusal_is_handed_on, port_make),
		cmocka_unit_test_setup(a_physical_function_with_virtual_ones_is_listed, port_make),
		cmocka_unit_test_setup(other_ports_list_nothing, port_make),
		cmocka_unit_test_setup(modes_follow, port_make),
		cmocka_unit_test_setup(a_port_that_goes_takes_its_modes_along, port_make),
		cmocka_unit_test_setup(ports_of_one_netdev_share_its_modes, port_make),
		cmocka_unit_test_setup(ports_of_one_netdev_share_its_list, port_make),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
