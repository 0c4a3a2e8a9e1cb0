/* SPDX-License-Identifier: BSD-3-Clause */
/* When a broken queue is recreated, in which order, and by which process. The steps are fakes. */
#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>

#include "burst/rx/rx.h"
#include "burst/tx/tx.h"
#include "flow/flow.h"
#include "mp/mp.h"
#include "mp/primary.h"
#include "port/recover.h"
#include "queue/rx/rxq.h"
#include "queue/rx/rxq_ring.h"
#include "queue/tx/txq.h"
#include "rig.h"

enum step {
	CREATE,
	FLOW_STOP,
	REPLACE,
	FLOW_START,
	REPLACE_TX,
	DOORBELLS,
	ASK,
	NB_STEPS
};

static struct rig_port rig;
static struct mdv_rxq rxq;
static struct mdv_txq txq;
static uint16_t port_id;

/** The steps taken, in order, and the result of each step. */
static struct {
	enum step steps[16];
	unsigned int nb;
	int results[NB_STEPS];
	enum mdv_mp_kind asked;
	enum rte_proc_type_t process;
} seen;

static int
step(enum step what)
{
	assert_true(seen.nb < RTE_DIM(seen.steps));
	seen.steps[seen.nb++] = what;
	return seen.results[what];
}

int __wrap_mdv_rxq_ring_create(struct mdv_rxq *fresh);
int __wrap_mdv_rxq_ring_replace(struct mdv_rxq *old, struct mdv_rxq *fresh);
void __wrap_mdv_flow_stop(struct mdv_port *port);
int __wrap_mdv_flow_start(struct mdv_port *port);
int __wrap_mdv_txq_ring_replace(struct mdv_txq *old);
void __wrap_mdv_primary_doorbells(struct mdv_port *port);
int __wrap_mdv_mp_ask_recovery(
	enum mdv_mp_kind kind, uint16_t asked_port, uint16_t idx, uint8_t syndrome);
enum rte_proc_type_t __wrap_rte_eal_process_type(void);

int
__wrap_mdv_rxq_ring_create(struct mdv_rxq *fresh)
{
	assert_ptr_not_equal(fresh, &rxq);
	assert_int_equal(fresh->idx, rxq.idx);
	assert_false(fresh->ready);
	fresh->ring.mask = 77;
	return step(CREATE);
}

int
__wrap_mdv_rxq_ring_replace(struct mdv_rxq *old, struct mdv_rxq *fresh)
{
	assert_ptr_equal(old, &rxq);
	assert_int_equal(fresh->ring.mask, 77);
	old->ring.runtime_opts = 0;
	return step(REPLACE);
}

/** Check that other threads cannot read the rings. */
static void
check_locked(struct mdv_port *port)
{
	assert_ptr_equal(port, &rig.port);
	assert_int_equal(pthread_mutex_trylock(&port->queues.objects_lock), EBUSY);
}

void
__wrap_mdv_flow_stop(struct mdv_port *port)
{
	check_locked(port);
	step(FLOW_STOP);
}

int
__wrap_mdv_flow_start(struct mdv_port *port)
{
	check_locked(port);
	return step(FLOW_START);
}

int
__wrap_mdv_txq_ring_replace(struct mdv_txq *old)
{
	assert_ptr_equal(old, &txq);
	check_locked(old->port);
	return step(REPLACE_TX);
}

void
__wrap_mdv_primary_doorbells(struct mdv_port *port)
{
	assert_ptr_equal(port, &rig.port);
	step(DOORBELLS);
}

int
__wrap_mdv_mp_ask_recovery(
	enum mdv_mp_kind kind, uint16_t asked_port, uint16_t idx, uint8_t syndrome)
{
	assert_int_equal(asked_port, port_id);
	assert_int_equal(idx, kind == MDV_MP_RECREATE_RX ? rxq.idx : txq.idx);
	assert_int_equal(syndrome, 0);
	seen.asked = kind;
	return step(ASK);
}

enum rte_proc_type_t
__wrap_rte_eal_process_type(void)
{
	return seen.process;
}

static void
check_steps(const enum step *steps, unsigned int nb)
{
	assert_int_equal(seen.nb, nb);
	assert_memory_equal(seen.steps, steps, nb * sizeof(steps[0]));
	seen.nb = 0;
}

#define check_steps_are(...)                                                                       \
	check_steps(                                                                               \
		(const enum step[]){ __VA_ARGS__ }, RTE_DIM(((const enum step[]){ __VA_ARGS__ })))

static int
rig_make(void **state)
{
	struct rte_eth_dev *dev;

	(void)state;
	rig_port_init(&rig);
	memset(&rxq, 0, sizeof(rxq));
	memset(&txq, 0, sizeof(txq));
	memset(&seen, 0, sizeof(seen));
	mdv_queue_list_init(&rig.port.queues);
	mdv_recover_register();
	/* Another process finds the port by its number in ethdev. */
	dev = rte_eth_dev_allocate("recover");
	assert_non_null(dev);
	port_id = dev->data->port_id;
	dev->data->dev_private = &rig.port;
	rig.port.dev = dev;
	rxq.port = txq.port = &rig.port;
	rxq.port_id = txq.port_id = port_id;
	rxq.idx = 4;
	txq.idx = 5;
	rxq.ready = true;
	rxq.ring.runtime_opts = MDV_RX_RUNTIME_BROKEN;
	dev->data->rx_queue_state[4] = RTE_ETH_QUEUE_STATE_STARTED;
	dev->data->tx_queue_state[5] = RTE_ETH_QUEUE_STATE_STARTED;
	return 0;
}

static int
rig_free(void **state)
{
	struct rte_eth_dev *dev = rig.port.dev;

	(void)state;
	seen.process = RTE_PROC_PRIMARY;
	assert_int_equal(pthread_mutex_trylock(&rig.port.queues.objects_lock), 0);
	pthread_mutex_unlock(&rig.port.queues.objects_lock);
	dev->data->dev_private = NULL;
	rte_eth_dev_release_port(dev);
	return 0;
}

static void
rules_are_out_while_a_receive_queue_is_replaced(void **state)
{
	(void)state;
	mdv_recover_ops.rx(&rxq);
	check_steps_are(CREATE, FLOW_STOP, REPLACE, FLOW_START);
	assert_false(mdv_rxq_is_broken(&rxq));
	assert_int_equal(rxq.recover_wait.ms, 0);
}

static void
a_send_queue_is_replaced_and_its_doorbell_told(void **state)
{
	(void)state;
	mdv_recover_ops.tx(&txq);
	check_steps_are(REPLACE_TX, DOORBELLS);
	/* By another process, which tells of it itself. */
	assert_int_equal(mdv_recover_tx_now(&txq), 0);
	check_steps_are(REPLACE_TX);
	seen.results[REPLACE_TX] = -ENOMEM;
	mdv_recover_ops.tx(&txq);
	check_steps_are(REPLACE_TX);
	assert_int_equal(txq.recover_wait.ms, 1);
}

static void
each_step_of_a_receive_queue_may_fail(void **state)
{
	(void)state;
	/* The old rings stay, and so do the rules. */
	seen.results[CREATE] = -ENOMEM;
	assert_int_equal(mdv_recover_rx_now(&rxq), -ENOMEM);
	check_steps_are(CREATE);
	assert_true(mdv_rxq_is_broken(&rxq));
	/* From here on the queue counts as broken until all steps have succeeded; the rules are
	 * installed in any case, as the other queues live of them. */
	seen.results[CREATE] = 0;
	seen.results[REPLACE] = -EIO;
	assert_int_equal(mdv_recover_rx_now(&rxq), -EIO);
	check_steps_are(CREATE, FLOW_STOP, REPLACE, FLOW_START);
	assert_true(mdv_rxq_is_broken(&rxq));
	seen.results[FLOW_START] = -ENOSPC;
	assert_int_equal(mdv_recover_rx_now(&rxq), -EIO);
	check_steps_are(CREATE, FLOW_STOP, REPLACE, FLOW_START);
	assert_true(mdv_rxq_is_broken(&rxq));
	seen.results[REPLACE] = 0;
	assert_int_equal(mdv_recover_rx_now(&rxq), -ENOSPC);
	check_steps_are(CREATE, FLOW_STOP, REPLACE, FLOW_START);
	assert_true(mdv_rxq_is_broken(&rxq));
	seen.results[FLOW_START] = 0;
	assert_int_equal(mdv_recover_rx_now(&rxq), 0);
	assert_false(mdv_rxq_is_broken(&rxq));
}

/** Until the time for the next try. */
static void
let_pass(const struct mdv_recover_wait *wait)
{
	while (rte_get_timer_cycles() < wait->until)
		rte_delay_us_sleep(100);
}

static void
tries_come_at_growing_intervals(void **state)
{
	const uint64_t hz = rte_get_timer_hz();
	uint64_t before;
	uint32_t ms;

	(void)state;
	seen.results[CREATE] = -ENOMEM;
	for (ms = 1; ms <= 16; ms *= 2) {
		before = rte_get_timer_cycles();
		mdv_recover_ops.rx(&rxq);
		check_steps_are(CREATE);
		assert_int_equal(rxq.recover_wait.ms, ms);
		assert_uint_in_range(rxq.recover_wait.until, before + ms * (hz / 1000),
			rte_get_timer_cycles() + ms * (hz / 1000));
		let_pass(&rxq.recover_wait);
	}
	/* Not before its time, and after a second at most. */
	rxq.recover_wait.ms = 900;
	mdv_recover_ops.rx(&rxq);
	check_steps_are(CREATE);
	assert_int_equal(rxq.recover_wait.ms, 1000);
	mdv_recover_ops.rx(&rxq);
	assert_int_equal(seen.nb, 0);
	rxq.recover_wait.until = rte_get_timer_cycles();
	mdv_recover_ops.rx(&rxq);
	check_steps_are(CREATE);
	assert_int_equal(rxq.recover_wait.ms, 1000);
	/* Done: the next failure starts with the first pause again. */
	rxq.recover_wait.until = 0;
	seen.results[CREATE] = 0;
	mdv_recover_ops.rx(&rxq);
	assert_int_equal(rxq.recover_wait.ms, 0);
}

static void
nothing_is_done_for_a_stopped_queue_or_a_device_that_is_gone(void **state)
{
	struct rte_eth_dev_data *data = rig.port.dev->data;

	(void)state;
	data->rx_queue_state[4] = RTE_ETH_QUEUE_STATE_STOPPED;
	data->tx_queue_state[5] = RTE_ETH_QUEUE_STATE_STOPPED;
	mdv_recover_ops.rx(&rxq);
	mdv_recover_ops.tx(&txq);
	data->rx_queue_state[4] = RTE_ETH_QUEUE_STATE_STARTED;
	data->tx_queue_state[5] = RTE_ETH_QUEUE_STATE_STARTED;
	rig.port.event.removed = true;
	mdv_recover_ops.rx(&rxq);
	mdv_recover_ops.tx(&txq);
	assert_int_equal(seen.nb, 0);
}

static void
another_process_asks_the_primary(void **state)
{
	(void)state;
	seen.process = RTE_PROC_SECONDARY;
	/* The port's pointer to its ethdev is invalid there. */
	rig.port.dev = NULL;
	mdv_recover_ops.rx(&rxq);
	check_steps_are(ASK);
	assert_int_equal(seen.asked, MDV_MP_RECREATE_RX);
	assert_int_equal(rxq.recover_wait.ms, 0);
	seen.results[ASK] = -ETIMEDOUT;
	mdv_recover_ops.tx(&txq);
	check_steps_are(ASK);
	assert_int_equal(seen.asked, MDV_MP_RECREATE_TX);
	assert_int_equal(txq.recover_wait.ms, 1);
	rig.port.dev = &rte_eth_devices[port_id];
}

static void *
die_with_the_lock(void *port)
{
	mdv_queue_list_lock_objects(&((struct mdv_port *)port)->queues);
	return NULL;
}

static void
an_owner_that_died_leaves_the_lock_to_others(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, die_with_the_lock, &rig.port), 0);
	pthread_join(thread, NULL);
	mdv_queue_list_lock_objects(&rig.port.queues);
	mdv_queue_list_unlock_objects(&rig.port.queues);
	/* The lock works as before. */
	assert_int_equal(pthread_mutex_lock(&rig.port.queues.objects_lock), 0);
	mdv_queue_list_unlock_objects(&rig.port.queues);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			rules_are_out_while_a_receive_queue_is_replaced, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			a_send_queue_is_replaced_and_its_doorbell_told, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			each_step_of_a_receive_queue_may_fail, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			tries_come_at_growing_intervals, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			nothing_is_done_for_a_stopped_queue_or_a_device_that_is_gone, rig_make,
			rig_free),
		cmocka_unit_test_setup_teardown(
			another_process_asks_the_primary, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			an_owner_that_died_leaves_the_lock_to_others, rig_make, rig_free),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
