/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues one by one and all together: the calls and their order, and the states that ethdev sees.
 */
#include <errno.h>
#include <string.h>

#include "burst/rx/rx_ibv_burst.h"
#include "burst/tx/tx_ibv_burst.h"
#include "flow/rule/flow_state.h"
#include "mem/mr.h"
#include "mp/primary.h"
#include "port/queue.h"
#include "port/recover.h"
#include "queue/rx/rx_intr.h"
#include "queue/rx/rxq.h"
#include "queue/tx/txq.h"
#include "trace.h"

#define STARTED RTE_ETH_QUEUE_STATE_STARTED
#define STOPPED RTE_ETH_QUEUE_STATE_STOPPED

static struct rig_port rig;
static struct mdv_flow_state flow = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct mdv_rxq rxqs[2];
static struct mdv_txq txqs[2];
static void *rx_queues[2], *tx_queues[2];

/* clang-format off */
#define FAKE_OF_QUEUE(name, word) \
	TRACE_FAKE(int, name, struct mdv_port *port, uint16_t idx) \
	{ \
		assert_ptr_equal(port, &rig.port); \
		return trace_call(word " %u", idx); \
	}
FAKE_OF_QUEUE(mdv_rxq_create, "rx create")
FAKE_OF_QUEUE(mdv_rxq_start, "rx start")
FAKE_OF_QUEUE(mdv_rxq_stop, "rx stop")
FAKE_OF_QUEUE(mdv_txq_create, "tx create")
FAKE_OF_QUEUE(mdv_txq_start, "tx start")
FAKE_OF_QUEUE(mdv_txq_stop, "tx stop")
/* clang-format on */

TRACE_FAKE(int, mdv_recover_rx_now, struct mdv_rxq *rxq)
{
	return trace_call("rx recreate %d", (int)(rxq - rxqs));
}

TRACE_FAKE(void, mdv_rxq_destroy, struct mdv_port *port, uint16_t idx)
{
	assert_ptr_equal(port, &rig.port);
	trace_call("rx destroy %u", idx);
}

TRACE_FAKE(void, mdv_txq_destroy, struct mdv_port *port, uint16_t idx)
{
	assert_ptr_equal(port, &rig.port);
	trace_call("tx destroy %u", idx);
}

TRACE_FAKE(void, mdv_rxq_destroy_parked, struct mdv_port *port)
{
	assert_ptr_equal(port, &rig.port);
	trace_call("rx parked");
}

TRACE_FAKE(void, mdv_txq_destroy_parked, struct mdv_port *port)
{
	assert_ptr_equal(port, &rig.port);
	trace_call("tx parked");
}

/** @return whether another thread could take it */
static bool
is_free(pthread_mutex_t *lock)
{
	if (pthread_mutex_trylock(lock) != 0)
		return false;
	pthread_mutex_unlock(lock);
	return true;
}

TRACE_FAKE(int, mdv_rxq_setup, struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc,
	unsigned int socket, const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	(void)conf;
	(void)pool;
	assert_ptr_equal(dev, &rig.dev);
	/* Rules of a running port would find the queue's WQ while it is replaced. */
	assert_int_equal(is_free(&flow.lock), !rig.port.started);
	assert_int_equal(is_free(&rig.port.queues.objects_lock), !rig.port.started);
	return trace_call("rx setup %u %u %u", idx, nb_desc, socket);
}

TRACE_FAKE(int, mdv_txq_setup, struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc,
	unsigned int socket, const struct rte_eth_txconf *conf)
{
	(void)conf;
	assert_ptr_equal(dev, &rig.dev);
	return trace_call("tx setup %u %u %u", idx, nb_desc, socket);
}

TRACE_FAKE(void, mdv_rx_ibv_burst_select, struct mdv_rxq *rxq)
{
	trace_call("rx select %d", (int)(rxq - rxqs));
}

TRACE_FAKE(void, mdv_tx_ibv_burst_select, struct mdv_txq *txq)
{
	trace_call("tx select %d", (int)(txq - txqs));
}

TRACE_FAKE(void, mdv_primary_doorbells, struct mdv_port *port)
{
	assert_ptr_equal(port, &rig.port);
	trace_call("doorbells");
}

TRACE_FAKE(int, mdv_rx_intr_create, struct rte_eth_dev *dev)
{
	assert_ptr_equal(dev, &rig.dev);
	return trace_call("intr create");
}

TRACE_FAKE(void, mdv_rx_intr_destroy, struct rte_eth_dev *dev)
{
	assert_ptr_equal(dev, &rig.dev);
	trace_call("intr destroy");
}

TRACE_FAKE(void, mdv_mr_caches_gone, struct mdv_mr_table *table)
{
	assert_ptr_equal(table, rig.port.mr);
	trace_call("caches gone");
}

TRACE_FAKE(void, mdv_mr_pools_register, struct mdv_mr_table *table)
{
	assert_ptr_equal(table, rig.port.mr);
	trace_call("pools");
}

#define STOP_ALL                                                                                   \
	"tx destroy 0; tx destroy 1; tx parked; rx destroy 0; rx destroy 1; rx parked; "           \
	"intr destroy; caches gone; "

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	rig.port.flow = &flow;
	mdv_queue_list_init(&rig.port.queues);
	trace_clear();
	memset(rxqs, 0, sizeof(rxqs));
	memset(txqs, 0, sizeof(txqs));
	for (unsigned int i = 0; i < 2; i++) {
		rx_queues[i] = &rxqs[i];
		tx_queues[i] = &txqs[i];
	}
	rig.data.rx_queues = rx_queues;
	rig.data.tx_queues = tx_queues;
	rig.data.nb_rx_queues = rig.data.nb_tx_queues = 2;
	return 0;
}

static void
check_states(uint8_t rx0, uint8_t rx1, uint8_t tx0, uint8_t tx1)
{
	assert_int_equal(rig.data.rx_queue_state[0], rx0);
	assert_int_equal(rig.data.rx_queue_state[1], rx1);
	assert_int_equal(rig.data.tx_queue_state[0], tx0);
	assert_int_equal(rig.data.tx_queue_state[1], tx1);
}

/** If it cannot be now, it runs all the same: its burst tries again. */
static void
a_broken_one_is_recreated_when_it_starts(void **state)
{
	(void)state;
	rxqs[1].ring.runtime_opts = MDV_RX_RUNTIME_BROKEN;
	assert_int_equal(mdv_queue_rx_start(&rig.dev, 1), 0);
	trace_check("rx start 1; rx recreate 1; ");
	trace.result = -ENOMEM;
	trace.fails = "rx recreate 1";
	assert_int_equal(mdv_queue_rx_start(&rig.dev, 1), 0);
	trace_check("rx start 1; rx recreate 1; ");
	check_states(STOPPED, STARTED, STOPPED, STOPPED);
	trace.fails = "rx start 1";
	assert_int_equal(mdv_queue_rx_start(&rig.dev, 1), -ENOMEM);
	trace_check("rx start 1; ");
	rxqs[1].ring.runtime_opts = 0;
}

/** A state changes when the call has succeeded. */
static void
one_is_started_and_stopped(void **state)
{
	(void)state;
	assert_int_equal(mdv_queue_rx_start(&rig.dev, 1), 0);
	check_states(STOPPED, STARTED, STOPPED, STOPPED);
	assert_int_equal(mdv_queue_tx_start(&rig.dev, 0), 0);
	check_states(STOPPED, STARTED, STARTED, STOPPED);
	trace_check("rx start 1; tx start 0; ");
	trace.result = -EIO;
	trace.fails = "rx start 0";
	assert_int_equal(mdv_queue_rx_start(&rig.dev, 0), -EIO);
	trace.fails = "rx stop 1";
	assert_int_equal(mdv_queue_rx_stop(&rig.dev, 1), -EIO);
	trace.fails = "tx start 1";
	assert_int_equal(mdv_queue_tx_start(&rig.dev, 1), -EIO);
	trace.fails = "tx stop 0";
	assert_int_equal(mdv_queue_tx_stop(&rig.dev, 0), -EIO);
	check_states(STOPPED, STARTED, STARTED, STOPPED);
	trace.fails = NULL;
	assert_int_equal(mdv_queue_rx_stop(&rig.dev, 1), 0);
	check_states(STOPPED, STOPPED, STARTED, STOPPED);
	assert_int_equal(mdv_queue_tx_stop(&rig.dev, 0), 0);
	check_states(STOPPED, STOPPED, STOPPED, STOPPED);
}

/** Of a running port more follows: bursts of verbs, other processes' doorbells. */
static void
one_is_set_up(void **state)
{
	static const struct {
		bool started;
		enum mdv_mode mode;
		const char *rx, *tx;
	} cases[] = {
		{ false, MDV_MODE_DV, "rx setup 1 512 7; ", "tx setup 1 256 7; " },
		{ false, MDV_MODE_IBV, "rx setup 1 512 7; ", "tx setup 1 256 7; " },
		{ true, MDV_MODE_DV, "rx setup 1 512 7; ", "tx setup 1 256 7; doorbells; " },
		{ true, MDV_MODE_IBV, "rx setup 1 512 7; rx select 1; ",
			"tx setup 1 256 7; tx select 1; doorbells; " },
	};
	const struct rte_eth_rxconf rx_conf = { .rx_free_thresh = 0 };
	const struct rte_eth_txconf tx_conf = { .tx_free_thresh = 0 };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		rig.port.started = cases[i].started;
		rig.port.device.caps.mode = cases[i].mode;
		trace.fails = NULL;
		assert_int_equal(mdv_queue_rx_setup(&rig.dev, 1, 512, 7, &rx_conf, NULL), 0);
		trace_check(cases[i].rx);
		assert_int_equal(mdv_queue_tx_setup(&rig.dev, 1, 256, 7, &tx_conf), 0);
		trace_check(cases[i].tx);
		trace.result = -ENOMEM;
		trace.fails = "rx setup 1 512 7";
		assert_int_equal(mdv_queue_rx_setup(&rig.dev, 1, 512, 7, &rx_conf, NULL), -ENOMEM);
		trace_check("rx setup 1 512 7; ");
		assert_true(is_free(&flow.lock) && is_free(&rig.port.queues.objects_lock));
		trace.fails = "tx setup 1 256 7";
		assert_int_equal(mdv_queue_tx_setup(&rig.dev, 1, 256, 7, &tx_conf), -ENOMEM);
		trace_check("tx setup 1 256 7; ");
	}
}

static void
all_start_but_those_deferred(void **state)
{
	(void)state;
	rig.port.marks_in_use = true;
	assert_int_equal(mdv_queue_start_all(&rig.dev), 0);
	assert_false(rig.port.marks_in_use);
	check_states(STARTED, STARTED, STARTED, STARTED);
	trace_check("intr create; tx create 0; tx start 0; tx create 1; tx start 1; "
		    "rx create 0; rx start 0; rx create 1; rx start 1; pools; ");
	mdv_queue_stop_all(&rig.dev);
	check_states(STOPPED, STOPPED, STOPPED, STOPPED);
	trace_check(STOP_ALL);
	rxqs[0].conf.rx_deferred_start = 1;
	txqs[1].conf.tx_deferred_start = 1;
	assert_int_equal(mdv_queue_start_all(&rig.dev), 0);
	check_states(STOPPED, STARTED, STARTED, STOPPED);
	trace_check("intr create; tx create 0; tx start 0; tx create 1; "
		    "rx create 0; rx create 1; rx start 1; pools; ");
	mdv_queue_stop_all(&rig.dev);
	trace_check(STOP_ALL);
	rig.port.config.mr_mempool_reg_en = MDV_MEMPOOL_REG_OFF;
	assert_int_equal(mdv_queue_start_all(&rig.dev), 0);
	trace_check("intr create; tx create 0; tx start 0; tx create 1; "
		    "rx create 0; rx create 1; rx start 1; ");
}

/** Whatever fails, all is undone. */
static void
all_start_or_none(void **state)
{
	static const struct {
		const char *fails, *calls;
	} cases[] = {
		{ "intr create", "intr create; " },
		{ "tx create 0", "intr create; tx create 0; " },
		{ "tx start 0", "intr create; tx create 0; tx start 0; " },
		{ "tx create 1", "intr create; tx create 0; tx start 0; tx create 1; " },
		{ "rx create 0",
			"intr create; tx create 0; tx start 0; tx create 1; tx start 1; "
			"rx create 0; " },
		{ "rx start 1",
			"intr create; tx create 0; tx start 0; tx create 1; tx start 1; "
			"rx create 0; rx start 0; rx create 1; rx start 1; " },
	};
	char calls[512];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		trace.fails = cases[i].fails;
		trace.result = -ENOSPC;
		assert_int_equal(mdv_queue_start_all(&rig.dev), -ENOSPC);
		snprintf(calls, sizeof(calls), "%s%s", cases[i].calls, STOP_ALL);
		trace_check(calls);
		check_states(STOPPED, STOPPED, STOPPED, STOPPED);
	}
	trace.fails = NULL;
	tx_queues[1] = NULL;
	assert_int_equal(mdv_queue_start_all(&rig.dev), -EINVAL);
	trace_check("intr create; tx create 0; tx start 0; " STOP_ALL);
	tx_queues[1] = &txqs[1];
	rx_queues[0] = NULL;
	assert_int_equal(mdv_queue_start_all(&rig.dev), -EINVAL);
	trace_check("intr create; tx create 0; tx start 0; tx create 1; tx start 1; " STOP_ALL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_is_started_and_stopped, port_make),
		cmocka_unit_test_setup(a_broken_one_is_recreated_when_it_starts, port_make),
		cmocka_unit_test_setup(one_is_set_up, port_make),
		cmocka_unit_test_setup(all_start_but_those_deferred, port_make),
		cmocka_unit_test_setup(all_start_or_none, port_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
