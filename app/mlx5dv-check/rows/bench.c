/* SPDX-License-Identifier: BSD-3-Clause */
/* The experiment beside DPDK's own driver: one loop, run by a process for each of the two. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "check.h"

#define LOOP_MS    500
#define NB_MBUFS   4096
#define NB_CIRCLE  128 /* packets between the two ports */
#define EAL_ARGS   12
#define DRIVER_OWN "net_mlx5dv"
#define DRIVER_DPK "net_mlx5"

/** @return whether the verbs device @p ibdev is one of PCI, whose address is then in @p address */
static bool
pci_address(const char *ibdev, char *address, size_t size)
{
	const char *sys = getenv("SYSFS_PATH");
	char path[256], target[PATH_MAX];
	ssize_t length;

	snprintf(path, sizeof(path), "%s/class/infiniband/%s/device", sys != NULL ? sys : "/sys",
		ibdev);
	length = readlink(path, target, sizeof(target) - 1);
	if (length <= 0)
		return false;
	target[length] = '\0';
	snprintf(address, size, "%s", strrchr(target, '/') != NULL ? strrchr(target, '/') + 1 : "");
	return strchr(address, ':') != NULL;
}

/** Run the loop in another process. @return packets a second; 0: it has no ports, or failed */
static double
run_loop(const struct check *check, char *const *devices)
{
	static char program[] = "mlx5dv-check", loop[] = "--loop", end[] = "--",
		    no_huge[] = "--no-huge", m[] = "-m", size[] = "256",
		    telemetry[] = "--no-telemetry", shconf[] = "--no-shconf";
	char *args[EAL_ARGS + CHECK_PROCESS_ARGS] = { program, loop, end, no_huge, m, size,
		telemetry, shconf };
	struct check_process process;
	unsigned int nb = 8;
	char text[32];
	double rate = 0;

	while (*devices != NULL)
		args[nb++] = *devices++;
	check_process_args(check, false, args, nb);
	if (check_process_start(args, &process) != 0)
		return 0;
	if (check_process_read(&process, text, sizeof(text)))
		rate = strtod(text, NULL);
	return check_process_end(&process) ? rate : 0;
}

/** Both drivers in turn, while this process's ports are stopped. */
static enum check_result
compare(struct check *check)
{
	char own[CHECK_NB_SIDES][128], theirs[CHECK_NB_SIDES][64],
		vdev[] = "--vdev", no_pci[] = "--no-pci", a[] = "-a";
	char *own_args[] = { no_pci, vdev, own[0], vdev, own[1], NULL };
	char *their_args[] = { a, theirs[0], a, theirs[1], NULL };
	double rate, their_rate;

	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++) {
		const struct check_port *port = &check->port[side];

		snprintf(own[side], sizeof(own[side]), DRIVER_OWN "%u,ibdev=%s", side, port->ibdev);
		if (port->number != 0 || port->ibdev[0] == '\0' ||
			!pci_address(port->ibdev, theirs[side], sizeof(theirs[side])))
			return check_absent(check, "%s is no whole function of PCI", port->name);
	}
	their_rate = run_loop(check, their_args);
	if (their_rate == 0)
		return check_absent(check, DRIVER_DPK " is not there, or does not take the ports");
	rate = run_loop(check, own_args);
	if (rate == 0)
		return check_fail(check, "the process with " DRIVER_OWN " moved nothing");
	return check_seen(check,
		DRIVER_OWN " %.3f Mpps, " DRIVER_DPK " %.3f Mpps, ratio %.2f, by one lcore",
		rate / 1e6, their_rate / 1e6, rate / their_rate);
}

static enum check_result
beside(struct check *check)
{
	enum check_result result;
	int ret = 0;

	for (unsigned int side = 0; side < CHECK_NB_SIDES && ret == 0; side++)
		ret = rte_eth_dev_stop(check->port[side].id);
	result = ret == 0 ? compare(check)
			  : check_fail(check, "stopping the ports: %s", rte_strerror(-ret));
	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++)
		if (rte_eth_dev_start(check->port[side].id) != 0)
			result = check_fail(
				check, "%s does not start again", check->port[side].name);
	return result;
}

/** One queue each way, and whatever comes is taken: packets go to and fro as they are. */
static int
loop_start(uint16_t id, struct rte_mempool *pool)
{
	const struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_NONE };
	int ret = rte_eth_dev_configure(id, 1, 1, &conf);

	if (ret == 0)
		ret = rte_eth_rx_queue_setup(id, 0, CHECK_RING, SOCKET_ID_ANY, NULL, pool);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(id, 0, CHECK_RING, SOCKET_ID_ANY, NULL);
	if (ret == 0)
		ret = rte_eth_dev_start(id);
	return ret == 0 ? rte_eth_promiscuous_enable(id) : ret;
}

/** Send what came on to the other port, as testpmd's io does. @return the packets */
static uint64_t
loop_burst(uint16_t from, uint16_t to)
{
	struct rte_mbuf *mbufs[CHECK_BENCH_BURST];
	const uint16_t nb = rte_eth_rx_burst(from, 0, mbufs, CHECK_BENCH_BURST);
	const uint16_t sent = rte_eth_tx_burst(to, 0, mbufs, nb);

	rte_pktmbuf_free_bulk(mbufs + sent, nb - sent);
	return sent;
}

int
check_loop_run(void)
{
	struct check check = { .row = CHECK_NO_ROW };
	const struct check_frame frame = { .size = 60 };
	const uint64_t hz = rte_get_timer_hz();
	uint64_t start, now, nb = 0;
	unsigned int nb_ports = 0;
	uint16_t id;

	RTE_ETH_FOREACH_DEV (id)
		if (nb_ports < CHECK_NB_SIDES)
			check.port[nb_ports++].id = id;
	check.port[CHECK_PORT].pool = rte_pktmbuf_pool_create(
		"loop", NB_MBUFS, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (nb_ports != CHECK_NB_SIDES || check.port[CHECK_PORT].pool == NULL)
		return 2;
	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++)
		if (loop_start(check.port[side].id, check.port[CHECK_PORT].pool) != 0 ||
			rte_eth_macaddr_get(check.port[side].id, &check.port[side].mac) != 0)
			return 2;
	check.patience_ms = 1000;
	for (unsigned int i = 0; i < NB_CIRCLE; i++)
		if (check_traffic_send(&check, CHECK_PORT, &frame) != 0)
			return 2;
	start = rte_get_timer_cycles();
	do {
		nb += loop_burst(check.port[CHECK_PEER].id, check.port[CHECK_PORT].id);
		nb += loop_burst(check.port[CHECK_PORT].id, check.port[CHECK_PEER].id);
		now = rte_get_timer_cycles();
	} while (now - start < LOOP_MS * hz / 1000);
	printf("%.0f\n", (double)nb * (double)hz / (double)(now - start));
	/* Drivers ask Linux to have a function's netdev promiscuous, and not all take it back. */
	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++) {
		(void)rte_eth_promiscuous_disable(check.port[side].id);
		(void)rte_eth_dev_stop(check.port[side].id);
	}
	return 0;
}

const struct check_row check_rows_bench[] = {
	{ "beside net_mlx5", "what the same loop moves by either driver", beside },
	{ NULL, NULL, NULL },
};
