/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Queue pairs that send without a pause share a wire that is slower than they are. */
#include "roce_end.h"

#define NB_SENDERS 3
#define RING       128 /* more than a queue pair sends in a round */
#define ROOM       16  /* of the wire, a round */
#define ROUNDS     120

struct sender {
	struct shca_roce_qp *qp;
	uint64_t ring[RING * SHCA_WQEBB_BYTES / 8];
	__be32 record[2];
	uint32_t nb_posted, nb_sent;
};

struct senders {
	struct end end; /* which sends nothing: for its rig and its path */
	struct sender sender[NB_SENDERS];
};

static void
make_sender(struct senders *senders, unsigned int number)
{
	const enum shca_roce_state states[] = { SHCA_ROCE_INIT, SHCA_ROCE_RTR, SHCA_ROCE_RTS };
	struct sender *sender = &senders->sender[number];
	struct shca_roce_qp_conf conf = senders->end.conf;

	conf.dest_qpn = DEST_QPN + number;
	assert_int_equal(shca_roce_qp_create(senders->end.rig.dev,
				 &(struct shca_roce_qp_attr){
					 .type = SHCA_ROCE_UC,
					 .sq_ring = (uint8_t *)sender->ring,
					 .dbrec = sender->record,
					 .nb_wqebbs = RING,
					 .pdn = RIG_PDN,
					 .send_cq = senders->end.rig.tx.cq,
					 .recv_cq = senders->end.rig.rx.cq,
				 },
				 &sender->qp),
		0);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		shca_roce_qp_modify(sender->qp, states[i], &conf);
}

/** Sends without bytes, as many as the ring has room for. */
static void
post(struct sender *sender)
{
	for (; sender->nb_posted - sender->nb_sent < RING; sender->nb_posted++) {
		const struct mlx5_wqe_ctrl_seg ctrl = {
			.opmod_idx_opcode =
				htobe32((sender->nb_posted & 0xffff) << 8 | MLX5_OPCODE_SEND),
			.qpn_ds = htobe32(shca_roce_qp_number(sender->qp) << 8 | 1),
		};

		memcpy((uint8_t *)sender->ring +
				(size_t)(sender->nb_posted % RING) * SHCA_WQEBB_BYTES,
			&ctrl, sizeof(ctrl));
	}
	sender->record[MLX5_SND_DBR] = htobe32(sender->nb_posted);
}

static void
all_get_their_turn(void **state)
{
	static struct senders senders;
	struct rig *rig = &senders.end.rig;

	(void)state;
	connect_end(&senders.end, SHCA_ROCE_UC);
	for (unsigned int i = 0; i < NB_SENDERS; i++)
		make_sender(&senders, i);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < NB_SENDERS; i++)
			post(&senders.sender[i]);
		rig->wire.room = ROOM;
		shca_device_step(rig->dev);
		for (unsigned int i = 0; i < rig->wire.nb_sent; i++)
			senders.sender[sent(&senders.end, i).qpn - DEST_QPN].nb_sent++;
		rig_forget(&rig->wire);
	}
	for (unsigned int i = 0; i < NB_SENDERS; i++)
		assert_true(senders.sender[i].nb_sent >= ROUNDS * ROOM / NB_SENDERS / 2);
	for (unsigned int i = 0; i < NB_SENDERS; i++)
		shca_roce_qp_destroy(senders.sender[i].qp);
	disconnect_end(&senders.end);
}

/** The one whose turn is next goes. */
static void
one_that_goes_has_no_turn(void **state)
{
	static struct senders senders;
	struct rig *rig = &senders.end.rig;

	(void)state;
	for (unsigned int gone = 0; gone < NB_SENDERS; gone++) {
		memset(&senders, 0, sizeof(senders));
		connect_end(&senders.end, SHCA_ROCE_UC);
		for (unsigned int i = 0; i < NB_SENDERS; i++)
			make_sender(&senders, i);
		post(&senders.sender[NB_SENDERS - 1]);
		rig->wire.room = ROOM;
		shca_device_step(rig->dev);
		shca_roce_qp_destroy(senders.sender[gone].qp);
		rig->wire.room = UINT32_MAX;
		rig_run(rig);
		for (unsigned int i = 0; i < NB_SENDERS; i++)
			if (i != gone)
				shca_roce_qp_destroy(senders.sender[i].qp);
		disconnect_end(&senders.end);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_get_their_turn),
		cmocka_unit_test(one_that_goes_has_no_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
