/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Shared receive queues: the list of WQEs, laps of the counter, the limit, broken lists, and
 * the end of one in the middle of a message. */
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "hw/roce/state.h"

#define NB_WQES 8
#define STRIDE  64
#define PAGE    4096

static struct shca_device dev;
static struct shca_srq *srq;
static uint8_t *ring;
static __be32 *dbrec;
static unsigned int nb_errors, nb_limits, nb_fatal;

static void
on_event(void *owner, enum shca_event event)
{
	assert_ptr_equal(owner, &dev);
	nb_errors += event == SHCA_EVENT_SRQ_ERR;
	nb_limits += event == SHCA_EVENT_SRQ_LIMIT_REACHED;
	nb_fatal += event == SHCA_EVENT_QP_FATAL;
}

static void
link_wqe(unsigned int index, uint16_t next)
{
	struct mlx5_wqe_srq_next_seg seg = { .next_wqe_index = htobe16(next) };

	memcpy(ring + (size_t)index * STRIDE, &seg, sizeof(seg));
}

static void
post(uint16_t counter)
{
	*dbrec = htobe32(counter);
}

static int
create(void **state)
{
	const struct shca_srq_attr attr = {
		.ring = mmap(
			NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		.dbrec = mmap(
			NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		.nb_wqes = NB_WQES,
		.stride_bytes = STRIDE,
		.pdn = 9,
		.event = on_event,
		.owner = &dev,
	};

	(void)state;
	shca_idtable_init(&dev.srq_numbers, 1, 10);
	ring = attr.ring;
	dbrec = attr.dbrec;
	nb_errors = nb_limits = nb_fatal = 0;
	assert_int_equal(shca_srq_create(&dev, &attr, &srq), 0);
	for (unsigned int i = 0; i < NB_WQES; i++)
		link_wqe(i, (uint16_t)((i + 1) % NB_WQES));
	return 0;
}

static int
destroy(void **state)
{
	(void)state;
	shca_srq_destroy(srq);
	shca_idtable_fini(&dev.srq_numbers);
	munmap(ring, PAGE);
	munmap(dbrec, PAGE);
	return 0;
}

static void
by_the_list(void **state)
{
	static const uint16_t order[] = { 0, 5, 2, 7 };
	struct shca_roce_rx_wqe wqe = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		link_wqe(order[i], i < 3 ? order[i + 1] : 1);
	assert_false(shca_srq_take(srq, &wqe));
	post(4);
	for (unsigned int i = 0; i < 4; i++) {
		assert_true(shca_srq_take(srq, &wqe));
		assert_int_equal(wqe.index, order[i]);
		assert_int_equal(wqe.pdn, 9);
		assert_ptr_equal(wqe.segments, ring + order[i] * STRIDE + 16);
		assert_int_equal(wqe.nb_segments, 3);
	}
	assert_false(shca_srq_take(srq, &wqe));
}

static void
counter_laps(void **state)
{
	struct shca_roce_rx_wqe wqe;

	(void)state;
	for (uint32_t i = 1; i < 0x10010; i++) {
		post((uint16_t)i);
		assert_true(shca_srq_take(srq, &wqe));
		assert_int_equal(wqe.index, (i - 1) % NB_WQES);
		assert_false(shca_srq_take(srq, &wqe));
	}
	/* More than the ring has: not a counter. */
	post((uint16_t)(0x1000f + NB_WQES + 1));
	assert_false(shca_srq_take(srq, &wqe));
}

static void
limit_is_reported_once(void **state)
{
	struct shca_roce_rx_wqe wqe;

	(void)state;
	post(4);
	shca_srq_arm(srq, 3);
	assert_true(shca_srq_take(srq, &wqe));
	assert_int_equal(nb_limits, 0);
	assert_int_equal(shca_srq_limit(srq), 3);
	assert_true(shca_srq_take(srq, &wqe));
	assert_int_equal(nb_limits, 1);
	assert_int_equal(shca_srq_limit(srq), 0);
	assert_true(shca_srq_take(srq, &wqe));
	assert_int_equal(nb_limits, 1);
}

static void
list_that_leaves_the_ring(void **state)
{
	struct shca_roce_rx_wqe wqe;

	(void)state;
	link_wqe(0, NB_WQES);
	post(2);
	assert_false(shca_srq_take(srq, &wqe));
	assert_int_equal(nb_errors, 1);
	link_wqe(0, 1);
	assert_false(shca_srq_take(srq, &wqe));
	assert_int_equal(nb_errors, 1);
}

static void
memory_that_is_not_there(void **state)
{
	struct shca_srq_attr attr = srq->attr;
	struct shca_srq *other = NULL;

	(void)state;
	attr.nb_wqes = 1u << 20;
	assert_int_equal(shca_srq_create(&dev, &attr, &other), -EFAULT);
	assert_null(other);
}

/** Of three targets one has taken a WQE of it, one a WQE of another, one has ended its message. */
static void
gone_within_a_message(void **state)
{
	struct shca_srq_attr attr = srq->attr;
	struct shca_roce_qp qps[3] = { 0 };
	struct shca_srq *other;

	(void)state;
	assert_int_equal(shca_srq_create(&dev, &attr, &other), 0);
	post(2);
	for (unsigned int i = 0; i < 3; i++) {
		qps[i].dev = &dev;
		qps[i].state = SHCA_ROCE_RTS;
		qps[i].attr.event = on_event;
		qps[i].attr.owner = &dev;
		assert_true(shca_srq_take(i == 1 ? srq : other, &qps[i].rx_wqe));
		LIST_INSERT_HEAD(&dev.roce_qps, &qps[i], link);
	}
	qps[2].rx_wqe.is_taken = false;
	shca_srq_destroy(other);
	assert_int_equal(qps[0].state, SHCA_ROCE_ERROR);
	assert_false(qps[0].rx_wqe.is_taken);
	assert_int_equal(qps[1].state, SHCA_ROCE_RTS);
	assert_true(qps[1].rx_wqe.is_taken);
	assert_int_equal(qps[2].state, SHCA_ROCE_RTS);
	assert_int_equal(nb_fatal, 1);
	LIST_INIT(&dev.roce_qps);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_the_list, create, destroy),
		cmocka_unit_test_setup_teardown(counter_laps, create, destroy),
		cmocka_unit_test_setup_teardown(limit_is_reported_once, create, destroy),
		cmocka_unit_test_setup_teardown(list_that_leaves_the_ring, create, destroy),
		cmocka_unit_test_setup_teardown(memory_that_is_not_there, create, destroy),
		cmocka_unit_test_setup_teardown(gone_within_a_message, create, destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
