/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of queue pairs, by port; test/verbs/counter.c binds and counts as programs do. */
#include "nldev/counter.h"

#include <errno.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include "config/options.h"
#include "nldev/nldev.h"
#include "rig.h"

/** Make a queue pair; without a state it is at no port and may be bound at any. */
static uint32_t
make_qp(struct rig *rig)
{
	struct qp_request qp;

	qp_request_init(rig, &qp, rig_cq(rig), -1);
	assert_int_equal(qp_request_run(rig, &qp), 0);
	return qp.number;
}

/** A port is asked about its own counters, in their order, and a device about all. */
static void
test_ports(void **state)
{
	struct rig *rig = *state;
	const struct shca_counter_port any = { rig->dev, 0, 0 }, one = { rig->dev, 0, 1 },
				       two = { rig->dev, 0, 2 }, three = { rig->dev, 0, 3 };
	uint32_t first = 0, second = 0, third = 0;
	struct shca_counter counter;

	assert_int_equal(shca_counter_bind_alloc(&two, make_qp(rig), &first), 0);
	assert_int_equal(shca_counter_bind_alloc(&one, make_qp(rig), &second), 0);
	assert_int_equal(shca_counter_bind_alloc(&two, make_qp(rig), &third), 0);
	assert_true(first != 0 && first < second && second < third);

	assert_int_equal(shca_counter_next(&any, 0), first);
	assert_int_equal(shca_counter_next(&any, first), second);
	assert_int_equal(shca_counter_next(&any, second), third);
	assert_int_equal(shca_counter_next(&any, third), 0);
	assert_int_equal(shca_counter_next(&one, 0), second);
	assert_int_equal(shca_counter_next(&one, second), 0);
	assert_int_equal(shca_counter_next(&two, 0), first);
	assert_int_equal(shca_counter_next(&two, first), third);
	assert_int_equal(shca_counter_next(&three, 0), 0);

	assert_true(shca_counter_find(&one, third, &counter));
	assert_int_equal(counter.port, 2);
}

/** @param arg gets the operation that answers, or a negative errno */
static int
take_answer(void *arg, const void *bytes, size_t length)
{
	const struct nlmsghdr *message = bytes;
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(message);

	(void)length;
	*(int *)arg = message->nlmsg_type == NLMSG_ERROR ? error->error
							 : RDMA_NL_GET_OP(message->nlmsg_type);
	return 0;
}

static struct shca_device *the_device;

static struct shca_device *
find_device(void *arg, unsigned int index)
{
	(void)arg;
	return index == 0 ? the_device : NULL;
}

/** Ask for a counter at a port. @param qpn to be unbound from it, 0: just ask
 * @return the operation that answers, or a negative errno */
static int
ask(const struct shca_options *options, uint32_t port, uint32_t id, uint32_t qpn)
{
	const int operation = qpn != 0 ? RDMA_NLDEV_CMD_STAT_DEL : RDMA_NLDEV_CMD_STAT_GET;
	_Alignas(8) uint8_t bytes[128] = { 0 };
	struct nlmsghdr *message = mnl_nlmsg_put_header(bytes);
	int error = 1;
	const struct shca_nldev nldev = { .options = options,
		.dir = "/",
		.send = take_answer,
		.device = find_device,
		.arg = &error };

	message->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, operation);
	message->nlmsg_flags = NLM_F_REQUEST;
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, id);
	if (qpn != 0)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_LQPN, qpn);
	assert_int_equal(shca_nldev_answer(&nldev, bytes, message->nlmsg_len), 0);
	return error;
}

/** A counter is asked for at its port (nldev.c fill_res_counter_entry()). What unbinds answers as
 * what binds (nldev_stat_del_doit()). */
static void
test_port_of_one(void **state)
{
	struct rig *rig = *state;
	const uint32_t qpn = make_qp(rig);
	const struct shca_counter_port two = { rig->dev, 0, 2 };
	struct shca_options options;
	char error[128];
	uint32_t id = 0;

	shca_options_init(&options);
	assert_int_equal(shca_options_add_port(&options, "switchdev=on", error, sizeof(error)), 0);
	the_device = rig->dev;
	assert_int_equal(shca_counter_bind_alloc(&two, qpn, &id), 0);
	assert_int_equal(ask(&options, 2, id, 0), RDMA_NLDEV_CMD_STAT_GET);
	assert_int_equal(ask(&options, 1, id, 0), -EAGAIN);
	assert_int_equal(ask(&options, 1, id + 1, 0), -ENOENT);
	assert_int_equal(ask(&options, 2, id, qpn), RDMA_NLDEV_CMD_STAT_SET);
	assert_int_equal(ask(&options, 2, id, 0), -ENOENT);
}

/** The counter has to be there, and a queue pair at its port, which it is at from INIT on. */
static void
test_existing(void **state)
{
	struct rig *rig = *state;
	const struct shca_counter_port of = { rig->dev, 0, 1 };
	const uint32_t other = make_qp(rig);
	uint32_t id = 0;

	assert_int_equal(shca_counter_bind_alloc(&of, make_qp(rig), &id), 0);
	assert_int_equal(shca_counter_bind(&of, other, 0), -ENOENT);
	assert_int_equal(shca_counter_bind(&of, other, id + 1), -ENOENT);
	assert_int_equal(shca_counter_bind(&of, other, id), -EINVAL);
}

/** A queue pair is unbound at a port that counts by hand, which others do not (rdma statistic qp
 * unbind link mlx5_0/3). */
static void
test_unbinding(void **state)
{
	struct rig *rig = *state;
	const struct shca_counter_port two = { rig->dev, 0, 2 }, three = { rig->dev, 0, 3 };
	const uint32_t qpn = make_qp(rig);
	uint32_t id = 0;

	assert_int_equal(shca_counter_bind_alloc(&two, qpn, &id), 0);
	assert_int_equal(shca_counter_unbind(&three, id, qpn), -EINVAL);
	assert_int_equal(shca_counter_unbind(&two, id + 1, qpn), -EINVAL);
	assert_int_equal(shca_counter_unbind(&two, id, qpn), 0);
}

/** Bindings of another device, whose queue pairs may be gone, take no room. */
static void
test_other_devices(void **state)
{
	struct rig *rig = *state;
	const struct shca_counter_port of = { rig->dev, 0, 1 }, other = { rig->dev, 1, 1 };
	uint32_t qpn[SHCA_COUNTER_QPS_MAX + 1], id = 0;

	for (unsigned int i = 0; i <= SHCA_COUNTER_QPS_MAX; i++) {
		qpn[i] = make_qp(rig);
		id = 0;
		assert_int_equal(shca_counter_bind_alloc(&of, qpn[i], &id),
			i < SHCA_COUNTER_QPS_MAX ? 0 : -ENOMEM);
	}
	assert_int_equal(shca_counter_bind_alloc(&other, qpn[SHCA_COUNTER_QPS_MAX], &id), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ports, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_port_of_one, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_existing, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_unbinding, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_other_devices, rig_setup, rig_teardown),
	};

	rig_skip_without_privilege();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
