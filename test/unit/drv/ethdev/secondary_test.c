/* SPDX-License-Identifier: BSD-3-Clause */
/* A port of a made-up primary process: its answers, its messages, and its end. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ethdev_vdev.h>
#include <rte_cycles.h>
#include <rte_flow_driver.h>
#include <rte_malloc.h>

#include "burst/tx/tx.h"
#include "device/uar.h"
#include "ethdev/ethdev.h"
#include "ethdev/secondary.h"
#include "mp/mp.h"
#include "queue/rx/rxq.h"
#include "rig.h"

#define NAME     "net_mlx5dv7"
#define NB_TXQS  3
#define PAGE     4096
#define PATIENCE 60000 /* polls, a millisecond apart */

/** The primary process. */
static struct {
	int device;      /**< memory, in place of UAR pages */
	int alive[2];    /**< a pipe in place of its pidfd: readable when it has ended */
	bool knows_port; /**< of that name */
	int listen, answer;
	struct mdv_mp_message asked[8];
	unsigned int nb_asked;
	mdv_mp_handle_t tell;
	const char *rules;
} primary;

static struct mdv_txq txqs[NB_TXQS];
/** The port's Tx queues in shared data, freed with it. */
static void **tx_queues;
static struct rte_vdev_device vdev = { .device.name = NAME };
static struct rte_eth_dev *dev;
static _Atomic unsigned int nb_rmv;

struct rte_eth_dev *__wrap_rte_eth_dev_attach_secondary(const char *name);
void __wrap_mdv_burst_select(struct rte_eth_dev *of);
int __wrap_mdv_mp_listen(mdv_mp_handle_t handle, bool waits);
int __wrap_mdv_mp_ask(struct mdv_mp_message *message, struct mdv_mp_fds *fds);

struct rte_eth_dev *
__wrap_rte_eth_dev_attach_secondary(const char *name)
{
	assert_string_equal(name, NAME);
	return primary.knows_port ? dev : NULL;
}

static uint16_t
rx_burst(void *queue, struct rte_mbuf **pkts, uint16_t nb)
{
	(void)queue;
	(void)pkts;
	return nb;
}

void
__wrap_mdv_burst_select(struct rte_eth_dev *of)
{
	of->rx_pkt_burst = rx_burst;
	of->tx_pkt_burst = rx_burst;
}

int
__wrap_mdv_mp_listen(mdv_mp_handle_t handle, bool waits)
{
	assert_false(waits);
	primary.tell = handle;
	return primary.listen;
}

int
__wrap_mdv_mp_ask(struct mdv_mp_message *message, struct mdv_mp_fds *fds)
{
	assert_true(primary.nb_asked < RTE_DIM(primary.asked));
	primary.asked[primary.nb_asked++] = *message;
	if (message->kind == MDV_MP_ATTACH && primary.answer == 0) {
		assert_int_equal(fds->nb, 0);
		*fds = (struct mdv_mp_fds){ { dup(primary.device), dup(primary.alive[0]) }, 2 };
	}
	if (message->kind == MDV_MP_DUMP_RULES && primary.rules != NULL) {
		assert_int_equal(fds->nb, 1);
		assert_int_equal(write(fds->fds[0], primary.rules, strlen(primary.rules)),
			strlen(primary.rules));
	}
	return primary.answer;
}

void __real_rte_eth_dev_probing_finish(struct rte_eth_dev *probed);
void __wrap_rte_eth_dev_probing_finish(struct rte_eth_dev *probed);

/** In a secondary process ethdev's fast path gets the arrays as they are
 * (rte_eth_dev_probing_finish): NULL before the primary's first configuration. */
void
__wrap_rte_eth_dev_probing_finish(struct rte_eth_dev *probed)
{
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[probed->data->port_id];

	ops->rx_pkt_burst = probed->rx_pkt_burst;
	ops->tx_pkt_burst = probed->tx_pkt_burst;
	ops->rxq.data = probed->data->rx_queues;
	ops->txq.data = probed->data->tx_queues;
	__real_rte_eth_dev_probing_finish(probed);
}

static int
on_removal(uint16_t port_id, enum rte_eth_event_type type, void *arg, void *param)
{
	(void)arg;
	(void)param;
	assert_int_equal(port_id, dev->data->port_id);
	assert_int_equal(type, RTE_ETH_EVENT_INTR_RMV);
	nb_rmv++;
	return 0;
}

static int
primary_make(void **state)
{
	int ret = rig_eal_init(state);

	if (ret != 0)
		return ret;
	primary.device = memfd_create("device", 0);
	assert_int_equal(ftruncate(primary.device, NB_TXQS * PAGE), 0);
	return pipe(primary.alive);
}

/** Make the port as shared memory has it. */
static int
port_make(void **state)
{
	struct mdv_port *port = rte_zmalloc(NULL, sizeof(*port), 0);
	uint16_t i;

	(void)state;
	primary.knows_port = true;
	primary.listen = primary.answer = 0;
	primary.nb_asked = 0;
	primary.rules = NULL;
	nb_rmv = 0;
	dev = rte_eth_dev_allocate(NAME);
	tx_queues = rte_zmalloc(NULL, NB_TXQS * sizeof(*tx_queues), 0);
	assert_non_null(port);
	assert_non_null(tx_queues);
	assert_non_null(dev);
	dev->data->dev_private = port;
	for (i = 0; i < NB_TXQS; i++) {
		txqs[i] = (struct mdv_txq){
			.objs.uar_offset = i * PAGE,
			.objs.uar_at = 0x800 + 0x100 * i,
			.ring.uar_slot = mdv_uar_slot(dev->data->port_id, i),
		};
		tx_queues[i] = &txqs[i];
		mdv_uar_regs[txqs[i].ring.uar_slot] = NULL;
	}
	/* One that is not set up. */
	tx_queues[1] = NULL;
	dev->data->tx_queues = tx_queues;
	dev->data->nb_tx_queues = NB_TXQS;
	return 0;
}

static int
port_free(void **state)
{
	(void)state;
	if (rte_eth_dev_is_valid_port(dev->data->port_id))
		rte_eth_dev_callback_unregister(
			dev->data->port_id, RTE_ETH_EVENT_INTR_RMV, on_removal, NULL);
	assert_int_equal(mdv_secondary_remove(&vdev), 0);
	assert_null(rte_eth_dev_allocated(NAME));
	/* A second call does nothing. */
	assert_int_equal(mdv_secondary_remove(&vdev), 0);
	return 0;
}

static void
attach(bool started)
{
	mdv_port(dev)->started = started;
	assert_int_equal(mdv_secondary_probe(&vdev, &mdv_ethdev_secondary_ops), 0);
	rte_eth_dev_callback_register(dev->data->port_id, RTE_ETH_EVENT_INTR_RMV, on_removal, NULL);
	assert_int_equal(primary.nb_asked, 1);
	assert_int_equal(primary.asked[0].kind, MDV_MP_ATTACH);
	assert_int_equal(primary.asked[0].port_id, dev->data->port_id);
	assert_int_equal(primary.asked[0].layout, mdv_secondary_layout());
	assert_int_equal(mdv_secondary_layout() >> 32, sizeof(struct mdv_port));
	assert_int_equal(mdv_secondary_layout() >> 16 & UINT16_MAX, sizeof(struct mdv_rxq));
	assert_int_equal(mdv_secondary_layout() & UINT16_MAX, sizeof(struct mdv_txq));
}

static int
tell(enum mdv_mp_kind kind, int nb_fds)
{
	struct mdv_mp_message message = { .kind = kind, .port_id = dev->data->port_id };
	const struct mdv_mp_fds got = { { primary.device, -1 }, nb_fds };
	struct mdv_mp_fds give = { .nb = 0 };

	return primary.tell(&message, &got, &give);
}

static void
check_bursts(eth_rx_burst_t burst)
{
	assert_ptr_equal(dev->rx_pkt_burst, burst);
	assert_ptr_equal(dev->tx_pkt_burst, burst);
	assert_ptr_equal(rte_eth_fp_ops[dev->data->port_id].rx_pkt_burst, burst);
	assert_ptr_equal(rte_eth_fp_ops[dev->data->port_id].tx_pkt_burst, burst);
	if (burst == rx_burst) {
		assert_ptr_equal(rte_eth_fp_ops[dev->data->port_id].txq.data, tx_queues);
		return;
	}
	/* Nothing else of the fast path reads a queue, which may have gone. */
	assert_null(rte_eth_fp_ops[dev->data->port_id].rxq.data[0]);
	assert_null(rte_eth_fp_ops[dev->data->port_id].txq.data[0]);
	assert_int_equal(rte_eth_fp_ops[dev->data->port_id].tx_pkt_prepare(NULL, NULL, 3), 3);
	assert_int_equal((int)rte_eth_fp_ops[dev->data->port_id].rx_queue_count(NULL), -ENOTSUP);
	assert_int_equal(
		rte_eth_fp_ops[dev->data->port_id].rx_descriptor_status(NULL, 0), -ENOTSUP);
	assert_int_equal(
		rte_eth_fp_ops[dev->data->port_id].tx_descriptor_status(NULL, 0), -ENOTSUP);
}

/** A write of this process to a queue's register arrives in the register's page. */
static void
check_doorbell(unsigned int i, uint64_t value)
{
	uint64_t got;

	assert_non_null(mdv_uar_regs[txqs[i].ring.uar_slot]);
	*mdv_uar_regs[txqs[i].ring.uar_slot] = value;
	assert_int_equal(
		pread(primary.device, &got, 8, txqs[i].objs.uar_offset + txqs[i].objs.uar_at), 8);
	assert_int_equal(got, value);
}

static void
a_port_runs_when_the_primary_says_so(void **state)
{
	volatile uint64_t *old;

	(void)state;
	attach(false);
	assert_ptr_equal(dev->dev_ops, &mdv_ethdev_secondary_ops);
	assert_ptr_equal(dev->rx_pkt_burst, rte_eth_pkt_burst_dummy);
	assert_int_equal(mdv_secondary_is_removed(dev), 0);
	assert_int_equal(mdv_secondary_link_update(dev, 1), 0);
	assert_null(mdv_uar_regs[txqs[0].ring.uar_slot]);
	assert_int_equal(tell(MDV_MP_START, 1), 0);
	check_bursts(rx_burst);
	check_doorbell(0, 11);
	check_doorbell(2, 12);
	assert_null(mdv_uar_regs[mdv_uar_slot(dev->data->port_id, 1)]);
	/* A queue more; the others' pages stay where they are. */
	old = mdv_uar_regs[txqs[0].ring.uar_slot];
	tx_queues[1] = &txqs[1];
	assert_int_equal(tell(MDV_MP_DOORBELLS, 2), -EPROTO);
	assert_int_equal(tell(MDV_MP_DOORBELLS, 1), 0);
	check_doorbell(1, 13);
	assert_ptr_equal(mdv_uar_regs[txqs[0].ring.uar_slot], old);
	check_bursts(rx_burst);
	assert_int_equal(tell(MDV_MP_STOP, 0), 0);
	check_bursts((eth_rx_burst_t)rte_eth_pkt_burst_dummy);
	/* Late: the queues may be gone, of which nothing is mapped now. */
	txqs[1].objs.uar_offset = MDV_UAR_NO_OFFSET;
	assert_int_equal(tell(MDV_MP_DOORBELLS, 1), 0);
	txqs[1].objs.uar_offset = 1 * PAGE;
	assert_int_equal(tell(MDV_MP_START, 1), 0);
	check_bursts(rx_burst);
	assert_int_equal(nb_rmv, 0);
	assert_int_equal(mdv_secondary_close(dev), 0);
	assert_int_equal(primary.nb_asked, 2);
	assert_int_equal(primary.asked[1].kind, MDV_MP_DETACH);
	assert_int_equal(primary.asked[1].port_id, dev->data->port_id);
	assert_int_equal(mdv_secondary_is_removed(dev), 1);
	check_bursts((eth_rx_burst_t)rte_eth_pkt_burst_dummy);
	assert_int_equal(mdv_secondary_close(dev), 0);
	assert_int_equal(primary.nb_asked, 2);
}

/** An application may poll it all the same. */
static void
a_port_that_is_not_configured_yet_has_no_queues(void **state)
{
	struct rte_mbuf *pkts[4];

	(void)state;
	dev->data->tx_queues = NULL;
	attach(false);
	check_bursts((eth_rx_burst_t)rte_eth_pkt_burst_dummy);
	assert_int_equal(rte_eth_rx_burst(dev->data->port_id, 0, pkts, 4), 0);
	dev->data->tx_queues = tx_queues;
	assert_int_equal(tell(MDV_MP_START, 1), 0);
	check_bursts(rx_burst);
}

static void
a_running_port_is_joined_at_once(void **state)
{
	(void)state;
	attach(true);
	check_bursts(rx_burst);
	check_doorbell(0, 21);
	mdv_port(dev)->event.removed = true;
	assert_int_equal(mdv_secondary_is_removed(dev), 1);
}

static void
what_is_told_badly_is_refused(void **state)
{
	const struct mdv_mp_fds got = { .nb = 0 };
	struct mdv_mp_message other = { .kind = MDV_MP_START };
	struct mdv_mp_fds give = { .nb = 0 };
	(void)state;
	attach(false);
	other.port_id = dev->data->port_id + 1;
	assert_int_equal(tell(MDV_MP_START, 0), -EPROTO);
	assert_int_equal(tell(MDV_MP_DOORBELLS, 2), 0); /* it is about a running port */
	/* If a page is not available, the port has no bursts. */
	txqs[2].objs.uar_offset = MDV_UAR_NO_OFFSET;
	assert_true(tell(MDV_MP_START, 1) < 0);
	check_bursts((eth_rx_burst_t)rte_eth_pkt_burst_dummy);
	txqs[2].objs.uar_offset = 2 * PAGE;
	/* A message about another port. */
	assert_int_equal(primary.tell(&other, &got, &give), 0);
	check_bursts((eth_rx_burst_t)rte_eth_pkt_burst_dummy);
}

static void
a_primary_that_refuses_leaves_nothing(void **state)
{
	struct rte_mempool *pool;

	(void)state;
	primary.knows_port = false;
	assert_int_equal(mdv_secondary_probe(&vdev, &mdv_ethdev_secondary_ops), -ENODEV);
	primary.knows_port = true;
	primary.listen = -EBUSY;
	assert_int_equal(mdv_secondary_probe(&vdev, &mdv_ethdev_secondary_ops), -EBUSY);
	assert_null(rte_eth_dev_allocated(NAME));
	assert_int_equal(primary.nb_asked, 0);
	port_make(NULL);
	primary.answer = -EPROTO;
	assert_int_equal(mdv_secondary_probe(&vdev, &mdv_ethdev_secondary_ops), -EPROTO);
	assert_null(rte_eth_dev_allocated(NAME));
	/* This process has no port to leave, and no port that the pool could concern. */
	assert_int_equal(primary.nb_asked, 1);
	pool = rig_pool("nobody", 8, 256);
	rte_mempool_free(pool);
	assert_int_equal(primary.nb_asked, 1);
	/* The port runs, and its doorbells are not available. */
	port_make(NULL);
	txqs[0].objs.uar_offset = MDV_UAR_NO_OFFSET;
	mdv_port(dev)->started = true;
	assert_true(mdv_secondary_probe(&vdev, &mdv_ethdev_secondary_ops) < 0);
	assert_int_equal(primary.nb_asked, 2);
	assert_int_equal(primary.asked[1].kind, MDV_MP_DETACH);
	port_make(NULL);
}

/** The primary was last asked, as the @p nb th question, about this pool. */
static void
check_asked(unsigned int nb, enum mdv_mp_kind kind, const struct rte_mempool *pool)
{
	assert_int_equal(primary.nb_asked, nb);
	assert_int_equal(primary.asked[nb - 1].kind, kind);
	assert_int_equal(primary.asked[nb - 1].port_id, dev->data->port_id);
	assert_ptr_equal(primary.asked[nb - 1].pool, pool);
}

static void
the_primary_hears_of_pools_that_come_and_go(void **state)
{
	struct rte_mempool *pool, *other;

	(void)state;
	attach(false);
	pool = rig_pool("going", 8, 256);
	check_asked(2, MDV_MP_POOL_MADE, pool);
	/* Without packets: none of the device's business. */
	other = rte_mempool_create("other", 8, 64, 0, 0, NULL, NULL, NULL, NULL, SOCKET_ID_ANY, 0);
	assert_non_null(other);
	assert_int_equal(primary.nb_asked, 2);
	rte_mempool_free(other);
	check_asked(3, MDV_MP_POOL_GONE, other);
	rte_mempool_free(pool);
	check_asked(4, MDV_MP_POOL_GONE, pool);
	/* The primary waits for packets of theirs. */
	mdv_port(dev)->config.mr_mempool_reg_en = MDV_MEMPOOL_REG_OFF;
	pool = rig_pool("unwanted", 8, 256);
	assert_int_equal(primary.nb_asked, 4);
	rte_mempool_free(pool);
	check_asked(5, MDV_MP_POOL_GONE, pool);
}

/** Shared data of a port that the primary has closed may be anything. */
static void
nobody_hears_of_pools_that_are_made_too_late(void **state)
{
	struct rte_mempool *pool;

	(void)state;
	attach(true);
	assert_int_equal(tell(MDV_MP_CLOSED, 0), 0);
	pool = rig_pool("late", 8, 256);
	assert_int_equal(primary.nb_asked, 1);
	rte_mempool_free(pool);
	check_asked(2, MDV_MP_POOL_GONE, pool);
}

static void
rules_are_printed_by_the_primary(void **state)
{
	const struct rte_flow_ops *ops;
	struct rte_flow_error error;
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	attach(false);
	assert_int_equal(mdv_secondary_flow_ops(dev, &ops), 0);
	primary.rules = "a rule\nanother\n";
	assert_int_equal(ops->dev_dump(dev, NULL, file, &error), 0);
	assert_int_equal(primary.asked[1].kind, MDV_MP_DUMP_RULES);
	assert_int_equal(primary.asked[1].port_id, dev->data->port_id);
	fclose(file);
	assert_string_equal(text, primary.rules);
	assert_int_equal(ops->dev_dump(dev, (struct rte_flow *)dev, NULL, &error), -ENOTSUP);
	assert_string_equal(error.message, "a secondary process dumps all rules or none");
	assert_int_equal(primary.nb_asked, 2);
	primary.rules = NULL;
	primary.answer = -EIO;
	assert_int_equal(ops->dev_dump(dev, NULL, NULL, &error), -EIO);
	assert_string_equal(error.message, "the primary process does not dump the rules");
	free(text);
}

static void
wait_for_removal(void)
{
	unsigned int i;

	for (i = 0; nb_rmv == 0 && i < PATIENCE; i++)
		rte_delay_us_sleep(1000);
	assert_int_equal(nb_rmv, 1);
	assert_int_equal(mdv_secondary_is_removed(dev), 1);
	check_bursts((eth_rx_burst_t)rte_eth_pkt_burst_dummy);
	/* Messages that come later, or were on their way. */
	assert_int_equal(tell(MDV_MP_START, 1), 0);
	assert_int_equal(tell(MDV_MP_CLOSED, 0), 0);
	rte_delay_us_sleep(20000);
	assert_int_equal(nb_rmv, 1);
	check_bursts((eth_rx_burst_t)rte_eth_pkt_burst_dummy);
	/* The primary is gone, so the close tells no process. */
	assert_int_equal(mdv_secondary_close(dev), 0);
	assert_int_equal(primary.nb_asked, 1);
}

static void
a_port_that_the_primary_closes_is_removed(void **state)
{
	(void)state;
	attach(true);
	assert_int_equal(tell(MDV_MP_CLOSED, 0), 0);
	/* The data that other operations read is gone. */
	assert_ptr_not_equal(dev->dev_ops, &mdv_ethdev_secondary_ops);
	assert_null(dev->dev_ops->stats_get);
	assert_ptr_equal(dev->dev_ops->dev_close, mdv_secondary_close);
	wait_for_removal();
}

/** The primary clears the shared data of a port that it releases, its number included. */
static void
a_closed_port_is_not_taken_for_the_first(void **state)
{
	struct rte_eth_dev *first = dev, *closed = rte_eth_dev_allocate("net_mlx5dv8");
	static struct mdv_port other;
	struct mdv_mp_message message = { .kind = MDV_MP_CLOSED };
	const struct mdv_mp_fds got = { .nb = 0 };
	struct mdv_mp_fds give = { .nb = 0 };

	(void)state;
	assert_int_equal(first->data->port_id, 0);
	attach(true);
	check_bursts(rx_burst);
	other.started = true;
	closed->data->dev_private = &other;
	dev = closed;
	assert_int_equal(mdv_secondary_probe(&vdev, &mdv_ethdev_secondary_ops), 0);
	dev = first;
	message.port_id = closed->data->port_id;
	assert_int_equal(message.port_id, 1);
	assert_int_equal(primary.tell(&message, &got, &give), 0);
	/* rte_eth_dev_release_port() of the primary */
	memset(closed->data, 0, sizeof(*closed->data));
	mdv_secondary_close(closed);
	assert_int_equal(closed->data->port_id, 1);
	check_bursts(rx_burst);
	assert_int_equal(tell(MDV_MP_STOP, 0), 0);
	check_bursts((eth_rx_burst_t)rte_eth_pkt_burst_dummy);
	assert_int_equal(rte_eth_dev_release_port(closed), 0);
}

/** The last test: a process watches its primary only once. */
static void
the_end_of_the_primary_removes_its_ports(void **state)
{
	(void)state;
	attach(true);
	close(primary.alive[1]);
	wait_for_removal();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_port_runs_when_the_primary_says_so, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_port_that_is_not_configured_yet_has_no_queues, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_running_port_is_joined_at_once, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			what_is_told_badly_is_refused, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_primary_that_refuses_leaves_nothing, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			the_primary_hears_of_pools_that_come_and_go, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			nobody_hears_of_pools_that_are_made_too_late, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			rules_are_printed_by_the_primary, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_port_that_the_primary_closes_is_removed, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_closed_port_is_not_taken_for_the_first, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			the_end_of_the_primary_removes_its_ports, port_make, port_free),
	};

	return cmocka_run_group_tests(tests, primary_make, NULL);
}
