/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Which packets a connected queue pair takes: those from its other side, to itself. */
#include "roce_end.h"

#include "hw/state/device.h"

/** @return packets that the queue pair has answered. */
static unsigned int
nb_answers(struct end *end, const struct shca_roce_path *path)
{
	const unsigned int nb = end->rig.wire.nb_sent;

	come_by(end, path,
		&(struct shca_bth){ .opcode = SHCA_BTH_SEND_ONLY, .psn = PSN, .ack_req = true });
	rig_run(&end->rig);
	return end->rig.wire.nb_sent - nb;
}

static void
only_from_its_other_side_to_itself(void **state)
{
	uint8_t ips[1][16] = { { [10] = 0xff, 0xff, 10, 0, 0, 1 } };
	struct shca_roce_path path;
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	end.rig.dev->port[0].netdev.ips = (const uint8_t(*)[16])ips;
	end.rig.dev->port[0].netdev.nb_ips = 1;
	assert_true(shca_gid_update(end.rig.dev));
	path = way_back(&end);
	path.sgid[15] ^= 1;
	assert_int_equal(nb_answers(&end, &path), 0);
	/* Another GID of the port. */
	path = way_back(&end);
	memcpy(path.dgid, ips[0], sizeof(path.dgid));
	assert_int_equal(nb_answers(&end, &path), 0);
	/* A frame that a wire brings to all at its end. */
	path = way_back(&end);
	path.dmac[5] ^= 1;
	assert_int_equal(nb_answers(&end, &path), 0);
	path = way_back(&end);
	assert_int_equal(nb_answers(&end, &path), 1);
	disconnect_end(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_from_its_other_side_to_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
