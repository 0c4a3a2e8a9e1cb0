/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of faults. */
#include "fault/row.h"

#include <errno.h>
#include <string.h>

#include "fault/verb.h"

#define OF    " [of mlx5_N]"
#define FRAME " [rx|tx]" OF
#define QUEUE " [queue N]" OF
#define VERB  "NAME|any WHEN" OF

#define REFUSED(name, number)                                                                      \
	{                                                                                          \
		"verb", name, SHCA_FAULT_VERB_ERROR, SHCA_FAULT_VERB, number, "calls", VERB,       \
			"the verb fails, and nothing of it happens"                                \
	}

/* clang-format off */
const struct shca_fault_row shca_fault_rows[] = {
	{ "wire", "loss", SHCA_FAULT_WIRE_LOSS, SHCA_FAULT_DIRECTION, 0, "frames",
		"WHEN" FRAME, "the frame is lost" },
	{ "wire", "duplicate", SHCA_FAULT_WIRE_DUPLICATE, SHCA_FAULT_DIRECTION, 0, "frames",
		"WHEN" FRAME, "the frame comes twice" },
	{ "wire", "reorder", SHCA_FAULT_WIRE_REORDER, SHCA_FAULT_DIRECTION | SHCA_FAULT_BY, 0, "frames",
		"WHEN by N" FRAME, "the frame comes after the N that follow it" },
	{ "wire", "corrupt", SHCA_FAULT_WIRE_CORRUPT, SHCA_FAULT_DIRECTION, 0, "frames",
		"WHEN" FRAME, "a bit of the frame is turned" },
	{ "wire", "truncate", SHCA_FAULT_WIRE_TRUNCATE, SHCA_FAULT_DIRECTION | SHCA_FAULT_TO, 0,
		"frames", "WHEN [to N]" FRAME, "the frame ends after N bytes, or anywhere" },
	{ "link", "flap", SHCA_FAULT_LINK_FLAP, SHCA_FAULT_DIRECTION | SHCA_FAULT_FOR, 0, "frames",
		"WHEN [for N|for TIME]" FRAME,
		"behind the frame the link goes down, until N frames are lost or for a while, and up" },
	{ "device", "fatal", SHCA_FAULT_DEVICE_FATAL, SHCA_FAULT_DIRECTION, 0, "frames",
		"WHEN" FRAME, "behind the frame the device is dead: an event, and verbs fail with EIO" },
	{ "device", "slow", SHCA_FAULT_DEVICE_SLOW, SHCA_FAULT_DIRECTION | SHCA_FAULT_BY_TIME, 0,
		"frames", "WHEN by TIME" FRAME, "behind the frame the device does nothing for a while" },
	{ "verb", "slow", SHCA_FAULT_VERB_SLOW, SHCA_FAULT_VERB | SHCA_FAULT_BY_TIME, 0, "calls",
		"NAME|any WHEN by TIME" OF, "the verb takes that much longer" },
	REFUSED("eperm", EPERM),
	REFUSED("eio", EIO),
	REFUSED("eagain", EAGAIN),
	REFUSED("enomem", ENOMEM),
	REFUSED("efault", EFAULT),
	REFUSED("ebusy", EBUSY),
	REFUSED("einval", EINVAL),
	REFUSED("enospc", ENOSPC),
	REFUSED("eopnotsupp", EOPNOTSUPP),
	REFUSED("etimedout", ETIMEDOUT),
	{ "sq", "error", SHCA_FAULT_SQ_ERROR, SHCA_FAULT_SYNDROME | SHCA_FAULT_QUEUE, 0, "wqes",
		"SYNDROME WHEN" QUEUE, "a WQE of a send queue fails with an error CQE" },
	{ "sq", "fatal", SHCA_FAULT_SQ_FATAL, SHCA_FAULT_QUEUE, 0, "wqes",
		"WHEN" QUEUE, "the send queue goes to error with an event, its WQEs are flushed" },
	{ "rq", "error", SHCA_FAULT_RQ_ERROR, SHCA_FAULT_SYNDROME | SHCA_FAULT_QUEUE, 0, "wqes",
		"SYNDROME WHEN" QUEUE, "a WQE of a receive queue fails with an error CQE" },
	{ "rq", "fatal", SHCA_FAULT_RQ_FATAL, SHCA_FAULT_QUEUE, 0, "wqes",
		"WHEN" QUEUE, "the receive queue goes to error with an event, its WQEs are flushed" },
	{ "cq", "overrun", SHCA_FAULT_CQ_OVERRUN, SHCA_FAULT_QUEUE, 0, "cqes",
		"WHEN" QUEUE, "the completion finds the CQ full: an event, and the CQ is dead" },
	{ .subject = NULL },
};
/* clang-format on */

static void
print_verbs(FILE *out)
{
	unsigned int column = 0;

	for (const struct shca_verb *verb = shca_verbs; verb->name != NULL; verb++) {
		column += (unsigned int)strlen(verb->name) + 1;
		fprintf(out, "%s%s",
			verb == shca_verbs    ? "  NAME: "
				: column > 90 ? "\n        "
					      : " ",
			verb->name);
		column = column > 90 ? 0 : column;
	}
	fprintf(out, "\n");
}

void
shca_fault_help(FILE *out)
{
	fprintf(out,
		"Lines of a faults file (# begins a comment):\n"
		"  seed N\n        another choice where chance decides (1 without)\n");
	for (const struct shca_fault_row *row = shca_fault_rows; row->subject != NULL; row++) {
		const struct shca_fault_row *next = row + 1;

		fprintf(out, "  %s %s %s\n", row->subject, row->action, row->usage);
		/* Rows with the same help: print it once, after the last of them. */
		if (next->subject == NULL || strcmp(next->help, row->help) != 0)
			fprintf(out, "        %s\n", row->help);
	}
	fprintf(out,
		"  WHEN: at N, every N, from N (of what is counted), or P%% of it\n"
		"  TIME: 10us, 10ms, 10s\n");
	print_verbs(out);
}
