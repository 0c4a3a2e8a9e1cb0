/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs that fail because a faults file says so: the n-th, without a trace. */
#include <errno.h>
#include <string.h>

#include "abi/core/ioctl.h"
#include "abi/entry/methods.h"
#include "fault/faults.h"
#include "fault/verb.h"
#include "rig.h"
#include "wire/wire.h"

/** The fixture's device has no faults: give it some for the rest of the test. */
static struct shca_faults *
give(struct rig *rig, const char *text)
{
	struct shca_device_conf *conf = (void *)(uintptr_t)shca_device_conf(rig->dev);
	struct shca_faults *faults;

	assert_int_equal(shca_faults_make(text, 1, &faults), 0);
	conf->faults = faults;
	return faults;
}

static void
take_back(struct rig *rig)
{
	struct shca_device_conf *conf = (void *)(uintptr_t)shca_device_conf(rig->dev);

	shca_faults_close(conf->faults);
	conf->faults = NULL;
}

static void
test_method(void **state)
{
	struct rig *rig = *state;
	struct shca_faults *faults = give(rig, "verb enomem CREATE_CQ at 2");
	struct cq_request first, failed, next;

	cq_request_init(rig, &first);
	assert_int_equal(cq_request_run(rig, &first), 0);
	cq_request_init(rig, &failed);
	failed.driver.buf_addr = (uintptr_t)rig->ring[1];
	assert_int_equal(cq_request_run(rig, &failed), -ENOMEM);
	assert_int_equal(faults->applied[0], 1);
	/* Nothing of it is left: the next gets its number. */
	cq_request_init(rig, &next);
	next.driver.buf_addr = (uintptr_t)rig->ring[1];
	assert_int_equal(cq_request_run(rig, &next), 0);
	assert_int_equal(next.cqn, first.cqn + 1);
	assert_int_equal(next.handle, first.handle + 1);
	assert_int_equal(faults->applied[0], 1);
	take_back(rig);
}

/** Destruction that fails destroys nothing. A request that is no request is not counted. */
static void
test_destruction(void **state)
{
	struct rig *rig = *state;
	struct shca_faults *faults = give(rig, "verb eio DEALLOC_PD at 1");

	assert_int_equal(frame_handle_only(rig->file, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				 UVERBS_ATTR_DESTROY_PD_HANDLE, rig->pd + 1000),
		-ENOENT);
	assert_int_equal(faults->applied[0], 0);
	assert_int_equal(frame_handle_only(rig->file, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				 UVERBS_ATTR_DESTROY_PD_HANDLE, rig->pd),
		-EIO);
	assert_non_null(rig_object(rig, rig->pd));
	assert_int_equal(frame_handle_only(rig->file, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				 UVERBS_ATTR_DESTROY_PD_HANDLE, rig->pd),
		0);
	assert_int_equal(faults->applied[0], 1);
	take_back(rig);
}

static void
test_command(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_alloc_pd_resp response;
	struct ib_uverbs_alloc_pd request = { 0 };
	struct mlx5_ib_alloc_pd_resp driver_response;
	struct command command = {
		.number = IB_USER_VERBS_CMD_ALLOC_PD,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
		.driver_out = &driver_response,
		.driver_out_length = sizeof(driver_response),
	};
	struct shca_faults *faults = give(rig, "verb eagain ALLOC_PD every 2");

	assert_int_equal(command_run(rig->file, &command), 0);
	/* libibverbs asks with nothing first: not a call. */
	command.in_length = 0;
	assert_int_equal(command_run(rig->file, &command), -ENOSPC);
	command.in_length = sizeof(request);
	assert_int_equal(command_run(rig->file, &command), -EAGAIN);
	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_equal(command_run(rig->file, &command), -EAGAIN);
	assert_int_equal(faults->applied[0], 2);
	take_back(rig);
}

/** "any" is each but destruction. */
static void
test_any(void **state)
{
	struct rig *rig = *state;
	struct shca_faults *faults;
	struct cq_request request;

	cq_request_init(rig, &request);
	assert_int_equal(cq_request_run(rig, &request), 0);
	faults = give(rig, "verb ebusy any from 1");
	request.driver.buf_addr = (uintptr_t)rig->ring[1];
	assert_int_equal(cq_request_run(rig, &request), -EBUSY);
	assert_int_equal(rig_modify_qp(rig, 99, 1, 0), -EBUSY);
	assert_int_equal(faults->applied[0], 2);
	take_back(rig);
}

static bool
destroys(const struct shca_method *method)
{
	for (unsigned int i = 0; i < method->nb_rows; i++)
		if (method->rows[i].kind == SHCA_ATTR_DESTROY)
			return true;
	return false;
}

/** All methods that destroy are known as such, so "any" spares them. */
static void
test_any_of_methods(void **state)
{
	unsigned int nb = 0;

	(void)state;
	for (const struct shca_object_methods *object = shca_methods_objects;
		object->methods != NULL; object++) {
		for (const struct shca_method *method = object->methods; method->rows != NULL;
			method++) {
			const struct shca_verb *verb = shca_verb_of_method(object->id, method->id);

			if (!destroys(method))
				continue;
			if (verb == NULL || !verb->is_destroy)
				fail_msg("object %#x, method %#x", object->id, method->id);
			nb++;
		}
	}
	assert_true(nb > 15);
}

/** An old command that becomes a method is one call, by the method's name, and no fault of others
 * strikes one that destroys. */
static void
test_any_of_old_commands(void **state)
{
	struct rig *rig = *state;
	const struct ib_uverbs_dealloc_pd dealloc_pd = { .pd_handle = rig->pd };
	struct ib_uverbs_create_cq create_cq = { .cqe = 63, .comp_channel = -1 };
	struct ib_uverbs_create_cq_resp response;
	struct cq_request request;
	struct command command = {
		.number = IB_USER_VERBS_CMD_CREATE_CQ,
		.in = &create_cq,
		.in_length = sizeof(create_cq),
		.out = &response,
		.out_length = sizeof(response),
		.driver_in = &request.driver,
		.driver_in_length = sizeof(request.driver),
	};
	struct shca_faults *faults = give(rig, "verb ebusy any at 2");

	cq_request_init(rig, &request);
	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_equal(command_run(rig->file, &command), -EBUSY);
	assert_int_equal(faults->applied[0], 1);
	take_back(rig);
	give(rig, "verb ebusy any from 1");
	command = (struct command){
		.number = IB_USER_VERBS_CMD_DEALLOC_PD,
		.in = &dealloc_pd,
		.in_length = sizeof(dealloc_pd),
	};
	assert_int_equal(command_run(rig->file, &command), 0);
	take_back(rig);
}

/** Linux finds the MAC when it is asked the third time. */
static int
find_way(struct shca_wire *wire, const uint8_t to[SHCA_IP_BYTES], bool is_bound,
	struct shca_way *way)
{
	static unsigned int nb_asked;

	(void)wire;
	(void)to;
	(void)is_bound;
	*way = (struct shca_way){ .mac = { 2, 0, 0, 0, 0, 9 } };
	return ++nb_asked % 3 != 0 ? -EINPROGRESS : 0;
}

/** A request that waits for a MAC is run again, and is one call all the same. */
static void
test_waiting(void **state)
{
	struct rig *rig = *state;
	struct shca_device_conf *conf = (void *)(uintptr_t)shca_device_conf(rig->dev);
	struct shca_wire_ops ops = *rig->wire->ops;
	struct shca_wire kernel = { .ops = &ops };
	struct ib_uverbs_create_ah request = {
		.pd_handle = rig->pd,
		.attr = { .grh = { .dgid = { 0xfd, [15] = 9 } }, .is_global = 1, .port_num = 1 },
	};
	struct ib_uverbs_create_ah_resp response;
	struct mlx5_ib_create_ah_resp driver_response;
	const struct command command = {
		.number = IB_USER_VERBS_CMD_CREATE_AH,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
		.driver_out = &driver_response,
		.driver_out_length = sizeof(driver_response),
	};
	struct shca_faults *faults = give(rig, "verb eio any at 2");

	ops.find_way = find_way;
	conf->kernel = &kernel;
	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_equal(driver_response.dmac[5], 9);
	assert_int_equal(command_run(rig->file, &command), -EIO);
	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_equal(faults->applied[0], 1);
	conf->kernel = NULL;
	take_back(rig);
}

/** What was of a device that has gone is there to be destroyed, and for nothing else (Linux
 * core/rdma_core.c rdma_lookup_get_uobject()). */
static void
test_dead(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_alloc_pd pd_request = { 0 };
	struct ib_uverbs_alloc_pd_resp pd_response;
	struct ib_uverbs_destroy_cq_resp response = { .comp_events_reported = 99 };
	struct ib_uverbs_destroy_cq request = { .cq_handle = rig_cq(rig) };
	const struct command alloc_pd = {
		.number = IB_USER_VERBS_CMD_ALLOC_PD,
		.in = &pd_request,
		.in_length = sizeof(pd_request),
		.out = &pd_response,
		.out_length = sizeof(pd_response),
	};
	const struct command destroy_cq = {
		.number = IB_USER_VERBS_CMD_DESTROY_CQ,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
	};
	const uint32_t wq = rig_wq(rig, request.cq_handle);
	struct frame frame;
	uint32_t nb_events = 99;

	shca_device_lock(rig->dev);
	shca_device_die(rig->dev);
	shca_device_unlock(rig->dev);
	assert_int_equal(command_run(rig->file, &alloc_pd), -EIO);
	assert_int_equal(command_run(rig->file, &destroy_cq), -EBUSY);
	frame_init(&frame, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY);
	frame_handle(&frame, UVERBS_ATTR_DESTROY_WQ_HANDLE, wq);
	frame_out(&frame, UVERBS_ATTR_DESTROY_WQ_RESP, &nb_events, sizeof(nb_events));
	assert_int_equal(frame_run(rig->file, &frame), 0);
	assert_int_equal(nb_events, 0);
	assert_int_equal(command_run(rig->file, &destroy_cq), 0);
	assert_int_equal(response.comp_events_reported, 0);
	assert_int_equal(command_run(rig->file, &destroy_cq), -ENOENT);
	assert_int_equal(frame_handle_only(rig->file, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				 UVERBS_ATTR_DESTROY_PD_HANDLE, rig->pd),
		0);
	/* The provider's own methods are of the device's driver. */
	assert_int_equal(
		frame_handle_only(rig->file, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY,
			MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, 0),
		-EIO);
}

/** Nothing takes it out of its group any more, and it goes all the same. */
static void
test_dead_in_a_group(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_attach_mcast request = { .gid = { 0xff, 0x0e, [15] = 1 } };
	struct command command = {
		.number = IB_USER_VERBS_CMD_ATTACH_MCAST,
		.in = &request,
		.in_length = sizeof(request),
	};
	struct qp_request qp;
	struct frame frame;
	uint32_t nb_events;

	qp_request_init(rig, &qp, rig_cq(rig), -1);
	qp.type = IB_UVERBS_QPT_UD;
	assert_int_equal(qp_request_run(rig, &qp), 0);
	request.qp_handle = qp.handle;
	assert_int_equal(command_run(rig->file, &command), 0);
	frame_init(&frame, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY);
	frame_handle(&frame, UVERBS_ATTR_DESTROY_QP_HANDLE, qp.handle);
	frame_out(&frame, UVERBS_ATTR_DESTROY_QP_RESP, &nb_events, sizeof(nb_events));
	assert_int_equal(frame_run(rig->file, &frame), -EBUSY);
	shca_device_lock(rig->dev);
	shca_device_die(rig->dev);
	shca_device_unlock(rig->dev);
	command.number = IB_USER_VERBS_CMD_DETACH_MCAST;
	assert_int_equal(command_run(rig->file, &command), -EIO);
	assert_int_equal(frame_run(rig->file, &frame), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_method, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_destruction, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_command, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_any, rig_setup, rig_teardown),
		cmocka_unit_test(test_any_of_methods),
		cmocka_unit_test_setup_teardown(test_any_of_old_commands, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_waiting, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_dead, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_dead_in_a_group, rig_setup, rig_teardown),
	};

	rig_skip_without_privilege();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
