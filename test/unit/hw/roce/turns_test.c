/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Queue pairs that send without a pause share a wire that is slower than they are. */
#include "roce_end.h"
#include "roce_sender.h"

#define NB_SENDERS 3
#define ROOM       16 /* of the wire, a round */
#define ROUNDS     120

struct senders {
	struct end end; /* which sends nothing: for its rig and its path */
	struct roce_sender sender[NB_SENDERS];
};

static void
open_sender(struct senders *senders, unsigned int number)
{
	struct shca_roce_qp_conf conf = senders->end.conf;

	conf.dest_qpn = DEST_QPN + number;
	roce_sender_open(&senders->sender[number], &senders->end.rig, &conf);
}

static void
all_get_their_turn(void **state)
{
	static struct senders senders;
	struct rig *rig = &senders.end.rig;

	(void)state;
	connect_end(&senders.end, SHCA_ROCE_UC);
	for (unsigned int i = 0; i < NB_SENDERS; i++)
		open_sender(&senders, i);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < NB_SENDERS; i++)
			roce_sender_post(&senders.sender[i]);
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
			open_sender(&senders, i);
		roce_sender_post(&senders.sender[NB_SENDERS - 1]);
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
