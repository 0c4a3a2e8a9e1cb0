/* SPDX-License-Identifier: BSD-3-Clause */
/* The row of another process on the port's queues: this program, started by itself. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "check.h"

#define NB_FRAMES  2000
#define FRAME      256
#define ATTACH_MS  20000 /* an EAL starts, maps the primary's memory and loads drivers */
#define BURST      32
#define READY      'r'
#define REFUSED    'n'
#define OTHER_NAME (RTE_ETH_NAME_MAX_LEN + RTE_ETHER_ADDR_FMT_SIZE)

extern char **environ;

/** @return how many of the EAL options from @p arg on the other process needs: the same drivers,
 * with @p memory the same memory, and no more. */
static int
is_shared_option(char *const *arg, bool memory)
{
	static const char *const names[] = { "-d", "--log-level", "--file-prefix",
		"--base-virtaddr" };

	for (unsigned int i = 0; i < (memory ? RTE_DIM(names) : 2); i++) {
		const size_t length = strlen(names[i]);

		if (strncmp(*arg, names[i], length) != 0)
			continue;
		if ((*arg)[length] == '\0')
			return arg[1] != NULL ? 2 : 0;
		if ((*arg)[length] == '=' || names[i][1] != '-')
			return 1;
	}
	return 0;
}

/** Its lcore is none of ours: mempools have a cache for each. */
static void
write_args(const struct check *check, char *port, char *lcores, char **args)
{
	static char program[] = "mlx5dv-check", secondary[] = "--secondary", end[] = "--",
		    type[] = "--proc-type=secondary", option[] = "--lcores";
	const unsigned int main_lcore = rte_get_main_lcore();
	char *const first[] = { program, secondary, port, end, type, option, lcores };
	char mac[RTE_ETHER_ADDR_FMT_SIZE];

	rte_eth_dev_get_name_by_port(check->port[CHECK_PORT].id, port);
	rte_ether_format_addr(mac, sizeof(mac), &check->port[CHECK_PEER].mac);
	strcat(strcat(port, "/"), mac);
	snprintf(lcores, 32, "%u@%d",
		main_lcore == RTE_MAX_LCORE - 1 ? main_lcore - 1 : RTE_MAX_LCORE - 1,
		rte_lcore_to_cpu_id((int)main_lcore));
	memcpy(args, first, sizeof(first));
	check_process_args(check, true, args, RTE_DIM(first));
}

void
check_process_args(const struct check *check, bool memory, char **args, unsigned int nb)
{
	for (char *const *arg = check->eal_args; *arg != NULL && nb < CHECK_PROCESS_ARGS - 2;) {
		const int nb_words = is_shared_option(arg, memory);

		for (int i = 0; i < nb_words; i++)
			args[nb++] = arg[i];
		arg += RTE_MAX(nb_words, 1);
	}
	args[nb] = NULL;
}

int
check_process_start(char **args, struct check_process *other)
{
	posix_spawn_file_actions_t actions;
	int to[2], from[2], ret;

	if (pipe2(to, O_CLOEXEC) != 0)
		return -errno;
	if (pipe2(from, O_CLOEXEC) != 0) {
		ret = -errno;
		close(to[0]);
		close(to[1]);
		return ret;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
	ret = posix_spawn(&other->pid, "/proc/self/exe", &actions, NULL, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(to[0]);
	close(from[1]);
	other->in = to[1];
	other->out = from[0];
	if (ret != 0) {
		close(to[1]);
		close(from[0]);
	}
	return -ret;
}

bool
check_process_read(const struct check_process *other, char *text, size_t size)
{
	struct pollfd waits = { .fd = other->out, .events = POLLIN };
	const ssize_t length =
		poll(&waits, 1, ATTACH_MS) == 1 ? read(other->out, text, size - 1) : 0;

	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

bool
check_process_end(struct check_process *other)
{
	struct pollfd waits = { .fd = other->out, .events = POLLIN };
	int status = -1;
	char rest;

	close(other->in);
	/* Its output ends with it. */
	if (poll(&waits, 1, ATTACH_MS) != 1 || read(other->out, &rest, 1) != 0)
		kill(other->pid, SIGKILL);
	close(other->out);
	return waitpid(other->pid, &status, 0) == other->pid && WIFEXITED(status) &&
		WEXITSTATUS(status) == 0;
}

/** Frames go to the other process by a rule, and come back. */
static enum check_result
echoed(struct check *check)
{
	const struct check_frame frame = { .src = CHECK_RULE_SRC, .size = FRAME };
	const struct check_rule rule = { .queue = CHECK_LAST_QUEUE };
	struct rte_flow *flow;
	enum check_result result = check_rules_create(check, &rule, 1, &flow);

	if (result != CHECK_PASS)
		return result;
	if (check_traffic_echo(check, CHECK_PEER, &frame, NB_FRAMES) != 0)
		result = CHECK_FAIL;
	return check_rules_destroy(check, &flow, 1, result);
}

static enum check_result
secondary_process(struct check *check)
{
	enum check_result result;
	char port[OTHER_NAME + 1], lcores[32], said[2], *args[CHECK_PROCESS_ARGS];
	struct check_process other;
	int ret;

	if (!check->is_shared)
		return check_absent(
			check, "the EAL shares nothing: give it --file-prefix and hugepages");
	write_args(check, port, lcores, args);
	ret = check_process_start(args, &other);
	if (ret != 0)
		return check_fail(check, "it does not start: %s", rte_strerror(-ret));
	(void)check_process_read(&other, said, sizeof(said));
	switch (said[0]) {
	case READY:
		result = echoed(check);
		break;
	case REFUSED:
		result = check_absent(check, "the driver gives no other process the port");
		break;
	default:
		result = check_fail(check, "it says nothing of the port");
	}
	if (!check_process_end(&other) && result == CHECK_PASS)
		result = check_fail(check, "it did not end well");
	if (result != CHECK_PASS)
		return result;
	return check_comes(check, NULL, 1, "after its end") ? CHECK_PASS : CHECK_FAIL;
}

/** @return whether standard input has ended */
static bool
is_over(void)
{
	struct pollfd waits = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	return poll(&waits, 1, 0) == 1 && read(STDIN_FILENO, &byte, 1) == 0;
}

int
check_secondary_run(const char *name)
{
	char port[OTHER_NAME + 1];
	struct rte_mbuf *mbufs[BURST];
	struct rte_ether_addr peer;
	char *mac;
	uint16_t id;

	snprintf(port, sizeof(port), "%s", name);
	mac = strchr(port, '/');
	if (mac == NULL)
		return 2;
	*mac++ = '\0';
	if (rte_ether_unformat_addr(mac, &peer) != 0 ||
		rte_eth_dev_get_port_by_name(port, &id) != 0) {
		(void)!write(STDOUT_FILENO, &(char){ REFUSED }, 1);
		return 2;
	}
	if (write(STDOUT_FILENO, &(char){ READY }, 1) != 1)
		return 2;
	while (!is_over()) {
		const uint16_t nb = rte_eth_rx_burst(id, CHECK_LAST_QUEUE, mbufs, BURST);
		uint16_t sent = 0;

		for (uint16_t i = 0; i < nb; i++)
			rte_pktmbuf_mtod(mbufs[i], struct rte_ether_hdr *)->dst_addr = peer;
		while (sent < nb && !is_over())
			sent += rte_eth_tx_burst(id, CHECK_LAST_QUEUE, mbufs + sent, nb - sent);
		rte_pktmbuf_free_bulk(mbufs + sent, nb - sent);
	}
	return 0;
}

const struct check_row check_rows_process[] = {
	{ "secondary process", "it receives and sends on a queue of its own", secondary_process },
	{ NULL, NULL, NULL },
};
