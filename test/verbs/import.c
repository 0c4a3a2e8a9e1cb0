/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second context on the file of the first, as ibv_import_device() makes it: the objects are those
 * of one Linux context, under handles that both know.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

#define FRAME 200 /* bytes */

static struct ibv_context *imported;
static struct ibv_pd *pd;
static struct ibv_mr *mr;

static void
test_context(void)
{
	struct mlx5dv_context first = { 0 }, second = { 0 };
	struct ibv_device_attr attr, its_attr;
	struct ibv_port_attr port;

	CHECK(imported->num_comp_vectors == rig_context->num_comp_vectors,
		imported->num_comp_vectors);
	CHECK(imported->cmd_fd != rig_context->cmd_fd, imported->cmd_fd);
	CHECK(imported->async_fd != rig_context->async_fd, imported->async_fd);
	rig_must(ibv_query_device(rig_context, &attr), "ibv_query_device");
	rig_must(ibv_query_device(imported, &its_attr), "ibv_query_device");
	CHECK(memcmp(&attr, &its_attr, sizeof(attr)) == 0, 0);
	rig_must(ibv_query_port(imported, 1, &port), "ibv_query_port");
	CHECK(port.state == IBV_PORT_ACTIVE, port.state);
	rig_must(mlx5dv_query_device(rig_context, &first), "mlx5dv_query_device");
	rig_must(mlx5dv_query_device(imported, &second), "mlx5dv_query_device");
	CHECK(first.flags == second.flags && first.version == second.version, second.flags);
}

static void
test_objects(void)
{
	pd = ibv_import_pd(imported, rig_pd->handle);
	if (pd == NULL)
		rig_die("ibv_import_pd");
	CHECK(pd->handle == rig_pd->handle && pd->context == imported, pd->handle);
	mr = ibv_import_mr(pd, rig_mr->handle);
	if (mr == NULL)
		rig_die("ibv_import_mr");
	CHECK(mr->lkey == rig_mr->lkey && mr->rkey == rig_mr->rkey, mr->lkey);
	CHECK(mr->length == rig_mr->length, (long long)mr->length);
	CHECK_REFUSED(ibv_import_mr(pd, rig_mr->handle + 1000), ENOENT);
	CHECK_REFUSED(ibv_import_pd(imported, rig_pd->handle + 1000), ENOENT);
	CHECK_REFUSED(ibv_import_pd(imported, rig_mr->handle), EINVAL);
}

static struct ibv_qp *
create_qp(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 16, 16, 1, 1, 0 },
		.qp_type = IBV_QPT_RAW_PACKET,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	if (qp == NULL)
		rig_die("ibv_create_qp");
	rig_start(qp);
	return qp;
}

/** What one context's queue sends the other's receives; both use the region of the first. */
static void
test_traffic(struct ibv_qp *from, struct ibv_cq *from_cq, struct ibv_qp *to, struct ibv_cq *to_cq)
{
	struct ibv_flow *flow = rig_take_all(to);
	struct ibv_wc wc;

	rig_receive(to, 10, RIG_BUFFER_BYTES);
	rig_frame(rig_buffer(0), FRAME, (uint8_t)from->qp_num);
	rig_send(from, 0, FRAME);
	rig_poll(from_cq, &wc, 1);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_SEND, wc.status);
	rig_poll(to_cq, &wc, 1);
	CHECK(wc.status == IBV_WC_SUCCESS && wc.byte_len == FRAME, wc.status);
	CHECK(memcmp(rig_buffer(0), rig_buffer(10), FRAME) == 0, 0);
	rig_must(ibv_destroy_flow(flow), "ibv_destroy_flow");
}

static void
test_device_memory(void)
{
	struct ibv_alloc_dm_attr attr = { .length = 256 };
	struct ibv_device_attr_ex device;
	struct ibv_dm *dm, *again;
	uint32_t word = 0x12345678, its_word = 0;

	rig_must(ibv_query_device_ex(rig_context, NULL, &device), "ibv_query_device_ex");
	if (device.max_dm_size == 0)
		return;
	dm = ibv_alloc_dm(rig_context, &attr);
	again = dm == NULL ? NULL : ibv_import_dm(imported, dm->handle);
	if (again == NULL)
		rig_die("ibv_import_dm");
	rig_must(ibv_memcpy_to_dm(dm, 64, &word, sizeof(word)), "ibv_memcpy_to_dm");
	rig_must(ibv_memcpy_from_dm(&its_word, again, 64, sizeof(word)), "ibv_memcpy_from_dm");
	CHECK(its_word == word, its_word);
	CHECK_REFUSED(ibv_import_dm(imported, dm->handle + 1000), ENOENT);
	ibv_unimport_dm(again);
	rig_must(ibv_free_dm(dm), "ibv_free_dm");
}

static void
test_not_a_node(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		rig_die("/dev/null");
	CHECK(ibv_import_device(fd) == NULL, errno);
	close(fd);
}

int
main(void)
{
	struct ibv_cq *cq, *its_cq;
	struct ibv_qp *qp, *its_qp;
	struct ibv_wc wc;

	rig_open();
	imported = ibv_import_device(dup(rig_context->cmd_fd));
	if (imported == NULL)
		rig_die("ibv_import_device");
	test_context();
	test_objects();
	cq = ibv_create_cq(rig_context, 64, NULL, NULL, 0);
	its_cq = ibv_create_cq(imported, 64, NULL, NULL, 0);
	if (cq == NULL || its_cq == NULL)
		rig_die("ibv_create_cq");
	qp = rig_qp(cq, 0);
	its_qp = create_qp(its_cq);
	test_traffic(qp, cq, its_qp, its_cq);
	test_traffic(its_qp, its_cq, qp, cq);
	test_device_memory();
	test_not_a_node();
	rig_must(ibv_destroy_qp(its_qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(its_cq), "ibv_destroy_cq");
	ibv_unimport_mr(mr);
	ibv_unimport_pd(pd);
	rig_must(ibv_close_device(imported), "ibv_close_device");
	/* The file is open until the last descriptor of it is closed. */
	rig_send(qp, 0, FRAME);
	rig_poll(cq, &wc, 1);
	CHECK(wc.status == IBV_WC_SUCCESS, wc.status);
	rig_must(ibv_destroy_qp(qp), "ibv_destroy_qp");
	rig_must(ibv_destroy_cq(cq), "ibv_destroy_cq");
	return rig_close();
}
