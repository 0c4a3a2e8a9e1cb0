/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers and messages of a primary process for a made-up port, without the asking process and its
 * queues. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "burst/rx/rx.h"
#include "burst/tx/tx.h"
#include "ethdev/secondary.h"
#include "ethdev/server.h"
#include "mem/mr.h"
#include "mp/mp.h"
#include "mp/primary.h"
#include "port/recover.h"
#include "queue/rx/rxq_ring.h"
#include "queue/tx/txq.h"
#include "rig.h"
#include "state/port_list.h"

static struct rig_port rig;
static struct mdv_rxq rxq;
static struct mdv_txq txq;
static void *rx_queues[2] = { NULL, &rxq }, *tx_queues[2] = { NULL, &txq };
static struct rte_mempool *pool;

static struct {
	mdv_mp_handle_t ask;
	enum mdv_mp_kind logged[8];
	unsigned int nb_told, nb_calls;
	int result;
	bool held;    /**< the port, while others are told */
	bool repeats; /**< who asks for a queue asks once more while the others are told */
	bool knows;   /**< all have been told */
	pthread_t repeater;
} seen;
/** The device's descriptor. */
static int cmd_fd;

int __wrap_mdv_mp_listen(mdv_mp_handle_t handle, bool waits);
int __wrap_mdv_mp_tell(const struct mdv_mp_message *message, const struct mdv_mp_fds *fds);
int __wrap_mdv_rxq_ring_recover(struct mdv_rxq *queue, uint8_t syndrome);
int __wrap_mdv_txq_ring_recover(struct mdv_txq *queue, uint8_t syndrome);
int __wrap_mdv_recover_rx_now(struct mdv_rxq *queue);
int __wrap_mdv_recover_tx_now(struct mdv_txq *queue);

int
__wrap_mdv_mp_listen(mdv_mp_handle_t handle, bool waits)
{
	assert_true(waits);
	seen.ask = handle;
	return seen.result;
}

/** @return whether the descriptors are of the same file. */
static bool
is_same(int fd, int other)
{
	struct stat own, its;

	assert_int_equal(fstat(fd, &own), 0);
	assert_int_equal(fstat(other, &its), 0);
	return own.st_dev == its.st_dev && own.st_ino == its.st_ino;
}

static void *
hold(void *arg)
{
	(void)arg;
	if (mdv_port_list_hold(rig.data.port_id) != NULL)
		mdv_port_list_release();
	return NULL;
}

/** Other processes ask for the port while one of those told may not answer. */
static bool
is_held(void)
{
	struct timespec until;
	pthread_t thread;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 60;
	assert_int_equal(pthread_create(&thread, NULL, hold, NULL), 0);
	if (pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) == 0)
		return false;
	pthread_detach(thread);
	return true;
}

static void *repeat(void *arg);

int
__wrap_mdv_mp_tell(const struct mdv_mp_message *message, const struct mdv_mp_fds *fds)
{
	assert_true(seen.nb_told < RTE_DIM(seen.logged));
	seen.logged[seen.nb_told++] = message->kind;
	assert_int_equal(message->port_id, rig.data.port_id);
	/* The device goes with news of doorbells. */
	if (message->kind == MDV_MP_START || message->kind == MDV_MP_DOORBELLS) {
		assert_int_equal(fds->nb, 1);
		assert_true(is_same(fds->fds[0], cmd_fd));
	} else {
		assert_null(fds);
	}
	seen.held |= is_held();
	if (seen.repeats) {
		seen.repeats = false;
		assert_int_equal(pthread_create(&seen.repeater, NULL, repeat, NULL), 0);
		/* An answer that comes too soon mostly comes within this time. */
		rte_delay_us_sleep(20000);
	}
	/* A secondary that stops may still have to ask for a queue. */
	assert_int_equal(rig.port.primary.serves, message->kind != MDV_MP_CLOSED);
	__atomic_store_n(&seen.knows, true, __ATOMIC_RELEASE);
	return 0;
}

int
__wrap_mdv_rxq_ring_recover(struct mdv_rxq *queue, uint8_t syndrome)
{
	assert_ptr_equal(queue, &rxq);
	assert_int_equal(syndrome, 7);
	seen.nb_calls++;
	return seen.result;
}

int
__wrap_mdv_txq_ring_recover(struct mdv_txq *queue, uint8_t syndrome)
{
	assert_ptr_equal(queue, &txq);
	assert_int_equal(syndrome, 7);
	seen.nb_calls++;
	return seen.result;
}

int
__wrap_mdv_recover_rx_now(struct mdv_rxq *queue)
{
	assert_ptr_equal(queue, &rxq);
	seen.nb_calls++;
	return seen.result;
}

int
__wrap_mdv_recover_tx_now(struct mdv_txq *queue)
{
	assert_ptr_equal(queue, &txq);
	seen.nb_calls++;
	txq.ring.broken = seen.result != 0;
	return seen.result;
}

static int
group_make(void **state)
{
	int ret = rig_eal_init(state);

	pool = ret == 0 ? rig_pool("primary", 16, 512) : NULL;
	return ret;
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	memset(&seen, 0, sizeof(seen));
	memset(&rxq, 0, sizeof(rxq));
	memset(&txq, 0, sizeof(txq));
	cmd_fd = memfd_create("device", MFD_CLOEXEC);
	assert_true(cmd_fd >= 0);
	rig.wq->context->cmd_fd = cmd_fd;
	rig.port.device.ctx = rig.wq->context;
	rig.port.device.shares_rings = true;
	rig.port.mr = mdv_mr_create(&rig.port.device, rig.data.port_id);
	rig.data.rx_queues = rx_queues;
	rig.data.tx_queues = tx_queues;
	rig.data.nb_rx_queues = rig.data.nb_tx_queues = 2;
	rig.data.rx_queue_state[1] = rig.data.tx_queue_state[1] = RTE_ETH_QUEUE_STATE_STARTED;
	rxq.ready = txq.ready = true;
	rxq.asked = txq.asked = true;
	mdv_port_list_add(&rig.port);
	return mdv_server_listen();
}

static int
port_free(void **state)
{
	(void)state;
	mdv_port_list_remove(&rig.port);
	mdv_mr_destroy(rig.port.mr);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	assert_false(seen.held);
	close(cmd_fd);
	return 0;
}

static void
close_given(struct mdv_mp_fds *give)
{
	while (give->nb != 0)
		close(give->fds[--give->nb]);
}

static int
ask(struct mdv_mp_message message, struct mdv_mp_fds *give)
{
	const struct mdv_mp_fds none = { .nb = 0 };
	struct mdv_mp_fds unused = { .nb = 0 };
	int ret;

	message.port_id = rig.data.port_id;
	ret = seen.ask(&message, &none, give != NULL ? give : &unused);
	close_given(&unused);
	return ret;
}

static int
ask_for(enum mdv_mp_kind kind, uint16_t idx)
{
	return ask((struct mdv_mp_message){ .kind = kind, .queue = { idx, 7 } }, NULL);
}

static int
attach(struct mdv_mp_fds *give)
{
	return ask(
		(struct mdv_mp_message){ .kind = MDV_MP_ATTACH, .layout = mdv_secondary_layout() },
		give);
}

static void
who_attaches_gets_the_device_and_sees_the_end(void **state)
{
	struct mdv_mp_fds give = { .nb = 0 };
	struct pollfd end;

	(void)state;
	assert_int_equal(attach(&give), 0);
	assert_int_equal(give.nb, 2);
	/* Its own, so that the port may be closed before the answer is sent. */
	assert_int_not_equal(give.fds[0], cmd_fd);
	assert_true(is_same(give.fds[0], cmd_fd));
	/* Readable as soon as this process has ended. */
	end = (struct pollfd){ .fd = give.fds[1], .events = POLLIN };
	assert_int_equal(poll(&end, 1, 0), 0);
	close_given(&give);
	assert_int_equal(rig.port.primary.nb_attached, 1);
	assert_int_equal(attach(NULL), 0);
	assert_int_equal(rig.port.primary.nb_attached, 2);
	assert_int_equal(ask_for(MDV_MP_DETACH, 0), 0);
	assert_int_equal(ask_for(MDV_MP_DETACH, 0), 0);
	assert_int_equal(ask_for(MDV_MP_DETACH, 0), 0);
	assert_int_equal(rig.port.primary.nb_attached, 0);
}

/** @return the number that the next descriptor of this process gets. */
static int
next_fd(void)
{
	const int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/** A process that is refused gets nothing that it would have to close. */
static void
half_of_what_an_attachment_needs_is_not_given(void **state)
{
	const int fd = next_fd();
	struct mdv_mp_fds give = { .nb = 0 };
	struct rlimit limit, room;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int nb = 0; nb < 2; nb++) {
		room = (struct rlimit){ .rlim_cur = fd + nb, .rlim_max = limit.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &room), 0);
		assert_int_equal(attach(&give), -EMFILE);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		assert_int_equal(give.nb, 0);
		assert_int_equal(next_fd(), fd);
		assert_int_equal(rig.port.primary.nb_attached, 0);
	}
}

static void
who_cannot_take_part_is_refused(void **state)
{
	const struct mdv_mp_fds none = { .nb = 0 };
	struct mdv_mp_fds give = { .nb = 0 };
	struct mdv_mp_message message = { .kind = MDV_MP_ATTACH, .port_id = 3, .layout = 1 };

	(void)state;
	assert_int_equal(seen.ask(&message, &none, &give), -EPROTO);
	rig.port.device.shares_rings = false;
	assert_int_equal(attach(&give), -ENOTSUP);
	rig.port.device.shares_rings = true;
	rig.port.config.mprq = MDV_MPRQ_ON;
	assert_int_equal(attach(&give), -ENOTSUP);
	rig.port.config.mprq = MDV_MPRQ_AUTO;
	rig.port.strides = true;
	assert_int_equal(attach(&give), -ENOTSUP);
	message.port_id = 4;
	assert_int_equal(seen.ask(&message, &none, &give), -ENODEV);
	message = (struct mdv_mp_message){ .kind = MDV_MP_NB_ASKED, .port_id = 3 };
	assert_int_equal(seen.ask(&message, &none, &give), -EINVAL);
	message.kind = -1;
	assert_int_equal(seen.ask(&message, &none, &give), -EINVAL);
	assert_int_equal(rig.port.primary.nb_attached, 0);
	assert_int_equal(give.nb, 0);
}

static void
told_are_those_who_attached(void **state)
{
	(void)state;
	mdv_primary_start(&rig.port);
	mdv_primary_doorbells(&rig.port);
	mdv_primary_stop(&rig.port);
	assert_false(rig.port.primary.serves);
	assert_int_equal(seen.nb_told, 0);
	assert_int_equal(attach(NULL), 0);
	mdv_primary_start(&rig.port);
	mdv_primary_doorbells(&rig.port);
	assert_true(rig.port.primary.serves);
	mdv_primary_stop(&rig.port);
	assert_false(rig.port.primary.serves);
	mdv_primary_close(&rig.port);
	assert_int_equal(rig.port.primary.nb_attached, 0);
	assert_int_equal(seen.nb_told, 4);
	assert_int_equal(seen.logged[0], MDV_MP_START);
	assert_int_equal(seen.logged[1], MDV_MP_DOORBELLS);
	assert_int_equal(seen.logged[2], MDV_MP_STOP);
	assert_int_equal(seen.logged[3], MDV_MP_CLOSED);
	mdv_primary_close(&rig.port);
	assert_int_equal(seen.nb_told, 4);
	/* A port that is not in the list yet, or no longer, has no secondaries. */
	rig.port.primary.nb_attached = 1;
	mdv_port_list_remove(&rig.port);
	mdv_primary_start(&rig.port);
	assert_int_equal(seen.nb_told, 4);
	assert_false(rig.port.primary.serves);
}

/** A row a question for a queue. */
static const enum mdv_mp_kind kinds[] = { MDV_MP_RECOVER_RX, MDV_MP_RECOVER_TX, MDV_MP_RECREATE_RX,
	MDV_MP_RECREATE_TX };

static void
queues_are_recovered_while_the_port_runs(void **state)
{
	unsigned int i;

	(void)state;
	mdv_rxq_ring_break(&rxq);
	txq.ring.broken = true;
	for (i = 0; i < RTE_DIM(kinds); i++) {
		seen.nb_calls = 0;
		seen.result = 0;
		/* Not started; not set up; not there. */
		mdv_primary_stop(&rig.port);
		assert_int_equal(ask_for(kinds[i], 1), -EBUSY);
		mdv_primary_start(&rig.port);
		assert_int_equal(ask_for(kinds[i], 0), -EBUSY);
		assert_int_equal(ask_for(kinds[i], 2), -EBUSY);
		assert_int_equal(seen.nb_calls, 0);
		seen.result = -EIO;
		assert_int_equal(ask_for(kinds[i], 1), -EIO);
		assert_int_equal(seen.nb_calls, 1);
		seen.result = 0;
		assert_int_equal(ask_for(kinds[i], 1), 0);
		assert_int_equal(seen.nb_calls, 2);
	}
	/* The doorbell of the replaced send queue; the others have kept theirs. */
	assert_int_equal(seen.nb_told, 1);
	assert_int_equal(seen.logged[0], MDV_MP_DOORBELLS);
}

/** Nobody could be told: the queue stays broken, and the next question is for it, too. */
static void
a_queue_is_recreated_only_if_others_can_be_told(void **state)
{
	(void)state;
	mdv_primary_start(&rig.port);
	txq.ring.broken = true;
	rig.wq->context->cmd_fd = -1;
	assert_int_equal(ask_for(MDV_MP_RECREATE_TX, 1), -EBADF);
	assert_int_equal(seen.nb_calls, 0);
	rig.wq->context->cmd_fd = cmd_fd;
	seen.result = -EIO;
	assert_int_equal(ask_for(MDV_MP_RECREATE_TX, 1), -EIO);
	assert_int_equal(seen.nb_told, 0);
	seen.result = 0;
	assert_int_equal(ask_for(MDV_MP_RECREATE_TX, 1), 0);
	assert_int_equal(seen.nb_told, 1);
}

static void
stopped_and_whole_queues_are_left_alone(void **state)
{
	(void)state;
	mdv_primary_start(&rig.port);
	rxq.ready = txq.ready = false;
	assert_int_equal(ask_for(MDV_MP_RECOVER_RX, 1), -EBUSY);
	assert_int_equal(ask_for(MDV_MP_RECOVER_TX, 1), -EBUSY);
	/* The queue is in order again, as after a repeated request. */
	assert_int_equal(ask_for(MDV_MP_RECREATE_RX, 1), 0);
	assert_int_equal(ask_for(MDV_MP_RECREATE_TX, 1), 0);
	assert_int_equal(seen.nb_told, 0);
	rxq.ready = txq.ready = true;
	rxq.asked = txq.asked = false;
	assert_int_equal(ask_for(MDV_MP_RECOVER_RX, 1), 0);
	assert_int_equal(ask_for(MDV_MP_RECOVER_TX, 1), 0);
	mdv_rxq_ring_break(&rxq);
	txq.ring.broken = true;
	rig.data.rx_queue_state[1] = RTE_ETH_QUEUE_STATE_STOPPED;
	rig.data.tx_queue_state[1] = RTE_ETH_QUEUE_STATE_STOPPED;
	assert_int_equal(ask_for(MDV_MP_RECREATE_RX, 1), -EBUSY);
	assert_int_equal(ask_for(MDV_MP_RECREATE_TX, 1), -EBUSY);
	assert_int_equal(seen.nb_calls, 0);
}

/** Its question timed out, and it asks again: the primary takes both, and the burst goes on after
 * an answer. */
static void
a_queue_is_reset_once_for_two_requests(void **state)
{
	(void)state;
	mdv_primary_start(&rig.port);
	for (unsigned int i = 0; i < 2; i++) {
		seen.nb_calls = 0;
		for (unsigned int k = 0; k < 2; k++)
			assert_int_equal(ask_for(kinds[i], 1), 0);
		assert_int_equal(seen.nb_calls, 1);
	}
}

/** @return whether all knew of the queue when it was answered. */
static void *
repeat(void *arg)
{
	(void)arg;
	if (ask_for(MDV_MP_RECREATE_TX, 1) != 0)
		return NULL;
	return __atomic_load_n(&seen.knows, __ATOMIC_ACQUIRE) ? &seen : NULL;
}

static void
a_repeated_request_is_answered_when_all_know_the_queue(void **state)
{
	void *knew;

	(void)state;
	mdv_primary_start(&rig.port);
	txq.ring.broken = seen.repeats = true;
	assert_int_equal(ask_for(MDV_MP_RECREATE_TX, 1), 0);
	assert_int_equal(pthread_join(seen.repeater, &knew), 0);
	assert_non_null(knew);
	assert_int_equal(seen.nb_calls, 1);
	assert_int_equal(seen.nb_told, 1);
}

static void
memory_is_registered_for_others(void **state)
{
	const struct mdv_mp_fds none = { .nb = 0 };
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool), own;
	struct mdv_mp_message message = { .kind = MDV_MP_MEMORY, .port_id = 3 };
	struct mdv_mp_fds give = { .nb = 0 };
	const uintptr_t addr = rte_pktmbuf_mtod(mbuf, uintptr_t);

	(void)state;
	message.memory.addr = addr;
	message.memory.mbuf = mbuf;
	assert_int_equal(seen.ask(&message, &none, &give), 0);
	assert_uint_in_range(addr, message.memory.range.start,
		message.memory.range.start + message.memory.range.size - 1);
	assert_int_equal(message.memory.range.lkey_be, rte_cpu_to_be_32(0x100));
	assert_int_equal(rig_verbs.nb_mrs, 1);
	/* The asking process's own memory means nothing here. */
	message.memory.mbuf = &own;
	assert_int_equal(seen.ask(&message, &none, &give), -EFAULT);
	message.memory.mbuf = mbuf;
	message.memory.addr = 1;
	assert_int_equal(seen.ask(&message, &none, &give), -EFAULT);
	assert_int_equal(
		ask((struct mdv_mp_message){ .kind = MDV_MP_POOL_GONE, .pool = pool }, NULL), 0);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	rte_pktmbuf_free(mbuf);
}

/** As external memory is that another process has registered: in the list, and mapped there alone.
 * @return the number of wrong answers */
static int
ask_for_external(struct rte_mbuf *mbuf)
{
	static struct rte_mbuf_ext_shared_info shared;
	const struct mdv_mp_fds none = { .nb = 0 };
	const size_t size = 16 * 4096;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mdv_mp_message message = { .kind = MDV_MP_MEMORY, .port_id = 3 };
	struct mdv_mp_fds give = { .nb = 0 };
	int wrong = 0;

	if (memory == MAP_FAILED || rte_extmem_register(memory, size, NULL, 0, 4096) != 0)
		return -1;
	message.memory.addr = (uintptr_t)memory;
	rte_pktmbuf_attach_extbuf(mbuf, memory, (uintptr_t)memory, 8192, &shared);
	message.memory.mbuf = mbuf;
	wrong += seen.ask(&message, &none, &give) != 0;
	mdv_mr_memory_event(RTE_MEM_EVENT_FREE, memory, size, rig.port.mr);
	if (rte_extmem_detach(memory, size) != 0 || munmap(memory, size) != 0)
		return -1;
	wrong += seen.ask(&message, &none, &give) != -EFAULT;
	message.memory.mbuf = memory;
	wrong += seen.ask(&message, &none, &give) != -EFAULT;
	return wrong;
}

/** In a process of its own, whose list of memory is then unfit for other tests. */
static void
external_memory_of_others_is_left_alone(void **state)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	const pid_t child = fork();
	int status;

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL); /* cmocka's handler would go on with the next test */
		_exit(ask_for_external(mbuf));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	rte_pktmbuf_free(mbuf);
}

/** A pool in memory of this process alone. */
static struct rte_mempool *
private_pool(uint8_t *memory, size_t bytes)
{
	struct rte_mempool *private =
		rte_mempool_create_empty("private", 16, sizeof(struct rte_mbuf) + 512, 0,
			sizeof(struct rte_pktmbuf_pool_private), SOCKET_ID_ANY, 0);

	assert_non_null(private);
	rte_pktmbuf_pool_init(private, NULL);
	assert_int_equal(rte_mempool_populate_iova(
				 private, (char *)memory, (uintptr_t)memory, bytes, NULL, NULL),
		16);
	return private;
}

/** Bytes as of a pool at a place where none is, as after its process has destroyed it. */
static struct rte_mempool *
remains_of(const struct rte_mempool *whole)
{
	const size_t bytes = (size_t)RTE_MEMPOOL_HEADER_SIZE(whole, whole->cache_size) +
		whole->private_data_size;

	return memcpy(rig_alloc(bytes), whole, bytes);
}

static void
told_of(enum mdv_mp_kind kind, struct rte_mempool *which, unsigned int nb_mrs)
{
	assert_int_equal(ask((struct mdv_mp_message){ .kind = kind, .pool = which }, NULL), 0);
	assert_int_equal(rig_verbs.nb_mrs, nb_mrs);
}

static void
pools_of_others_are_registered_while_the_port_runs(void **state)
{
	const size_t bytes = 16 * 4096;
	uint8_t *memory = rig_alloc(bytes);
	struct rte_mempool *private = private_pool(memory, bytes), *remains = remains_of(pool);

	(void)state;
	told_of(MDV_MP_POOL_MADE, pool, 0);
	mdv_mr_pools_register(rig.port.mr);
	assert_int_equal(rig_verbs.nb_mrs, 2);
	told_of(MDV_MP_POOL_GONE, private, 1);
	told_of(MDV_MP_POOL_GONE, pool, 0);
	told_of(MDV_MP_POOL_MADE, pool, 1);
	told_of(MDV_MP_POOL_MADE, pool, 1);
	/* What its addresses name here is not its memory. */
	told_of(MDV_MP_POOL_MADE, private, 1);
	told_of(MDV_MP_POOL_MADE, remains, 1);
	told_of(MDV_MP_POOL_GONE, pool, 0);
	told_of(MDV_MP_POOL_MADE, pool, 1);
	mdv_mr_caches_gone(rig.port.mr);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	told_of(MDV_MP_POOL_MADE, pool, 0);
	rte_mempool_free(private);
	free(remains);
	free(memory);
}

static void
rules_are_printed_to_a_file_that_is_given(void **state)
{
	(void)state;
	assert_int_equal(ask_for(MDV_MP_DUMP_RULES, 0), -EBADF);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			who_attaches_gets_the_device_and_sees_the_end, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			half_of_what_an_attachment_needs_is_not_given, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			who_cannot_take_part_is_refused, port_make, port_free),
		cmocka_unit_test_setup_teardown(told_are_those_who_attached, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			queues_are_recovered_while_the_port_runs, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_queue_is_recreated_only_if_others_can_be_told, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			stopped_and_whole_queues_are_left_alone, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_queue_is_reset_once_for_two_requests, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			a_repeated_request_is_answered_when_all_know_the_queue, port_make,
			port_free),
		cmocka_unit_test_setup_teardown(
			memory_is_registered_for_others, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			external_memory_of_others_is_left_alone, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			pools_of_others_are_registered_while_the_port_runs, port_make, port_free),
		cmocka_unit_test_setup_teardown(
			rules_are_printed_to_a_file_that_is_given, port_make, port_free),
	};

	return cmocka_run_group_tests(tests, group_make, NULL);
}
