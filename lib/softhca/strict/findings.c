/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings of softhca run --strict: the rules, and the report when a program breaks one. */
#include "strict/findings.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/context.h"
#include "base/log.h"
#include "base/shared.h"

/** Bytes of evidence in a report, enough for a WQE's segments or a CQE. */
#define DUMP_MAX   128
#define LINE_BYTES 16

#define QP_OP_ERROR "error CQE, local QP operation (0x02); the queue goes to error"
#define PROT_ERROR  "error CQE, local protection (0x04); the queue goes to error"

/* clang-format off */
const struct shca_finding_row shca_finding_rows[SHCA_NB_FINDINGS] = {
	[SHCA_FINDING_WQE_PAST_PRODUCER] = { "wqe-past-producer",
		"the WQE ends past the producer index", QP_OP_ERROR },
	[SHCA_FINDING_WQE_STALE] = { "wqe-stale",
		"the WQE names another index or queue than its own: an old one, still the device's",
		QP_OP_ERROR },
	[SHCA_FINDING_WQE_OPCODE] = { "wqe-opcode",
		"a send queue of this type has no such opcode", QP_OP_ERROR },
	[SHCA_FINDING_WQE_DS] = { "wqe-ds",
		"the DS count does not fit the WQE's segments", QP_OP_ERROR },
	[SHCA_FINDING_WQE_DS_OVERFLOW] = { "wqe-ds-overflow",
		"the DS count is more than 63 and has run over into reserved bits",
		"its low 6 bits count: a shorter WQE, or an error CQE" },
	[SHCA_FINDING_WQE_INLINE] = { "wqe-inline",
		"the inline header is shorter than the device's minimum", QP_OP_ERROR },
	[SHCA_FINDING_WQE_IMMEDIATE] = { "wqe-immediate",
		"the immediate of a SEND's control segment is not zero",
		"newer generations refuse it: error CQE" },
	[SHCA_FINDING_WQE_FORM] = { "wqe-form",
		"the WQE asks for what its opcode or the model does not allow", QP_OP_ERROR },
	[SHCA_FINDING_LKEY] = { "lkey",
		"the lkey is none of this protection domain's, or does not allow the access",
		PROT_ERROR },
	[SHCA_FINDING_ADDRESS] = { "address",
		"the address lies outside the memory region of its lkey", PROT_ERROR },
	[SHCA_FINDING_RING_OVERRUN] = { "ring-overrun",
		"more is posted than the ring holds",
		"WQEs that are not done are overwritten; the queue goes to error with an event" },
	[SHCA_FINDING_RECORD_ORDER] = { "record-byte-order",
		"the producer counter in the doorbell record is not big-endian",
		"another counter: nothing is sent or received, or the queue goes to error" },
	[SHCA_FINDING_CQ_OVERRUN] = { "cq-overrun",
		"a completion found the CQ full",
		"CQ error event; the CQ and the queues that complete to it are dead" },
	[SHCA_FINDING_CQ_RECORD_ORDER] = { "cq-record-byte-order",
		"the consumer index in the CQ's doorbell record is not big-endian",
		"another index: an overrun goes unnoticed, or is seen where there is none" },
	[SHCA_FINDING_CQ_RECORD_WIDTH] = { "cq-record-width",
		"the consumer index in the CQ's doorbell record is not kept in 24 bits",
		"another index: an overrun goes unnoticed, or is seen where there is none" },
	[SHCA_FINDING_CQ_RECORD_INDEX] = { "cq-record-index",
		"the consumer index in the CQ's doorbell record went back, or beyond what is complete",
		"another index: an overrun goes unnoticed, or is seen where there is none" },
	[SHCA_FINDING_RX_TRUNCATED] = { "rx-truncated",
		"the frame is longer than the buffers posted for it: what they hold is no packet",
		"error CQE, local length (0x01), for this frame" },
	[SHCA_FINDING_DOORBELL_WITHOUT_RECORD] = { "doorbell-without-record",
		"the doorbell names a WQE that the doorbell record does not have",
		"nothing is sent: the record tells how far to fetch" },
	[SHCA_FINDING_RECORD_AFTER_DOORBELL] = { "record-after-doorbell",
		"the doorbell record was written after the doorbell",
		"the WQE waits for the next doorbell, perhaps for ever" },
	[SHCA_FINDING_RECORD_WITHOUT_DOORBELL] = { "record-without-doorbell",
		"the doorbell record has WQEs that no doorbell told of",
		"nothing is sent: records of send queues are not polled" },
	[SHCA_FINDING_CQ_COMPRESSED_TX] = { "cq-compressed-tx",
		"a send queue completes to a CQ that compresses CQEs",
		"completions of sends come as mini CQEs, too" },
	[SHCA_FINDING_CQ_MINI_FORMAT] = { "cq-mini-format",
		"the mini CQEs' format does not suit the receive queue",
		"no strides: their index in place of what the driver needs; strides: no index" },
	[SHCA_FINDING_CQE_SIZE] = { "cqe-size",
		"the environment variable MLX5_CQE_SIZE made the CQEs 128 bytes long",
		"the CQE is in the second half of 128 bytes: who expects 64 finds none" },
	[SHCA_FINDING_FLOW_PORT] = { "flow-port",
		"a rule's or queue's port number is not 1: each port is a device of its own",
		"refused, EINVAL" },
	[SHCA_FINDING_OWN_BROADCAST] = { "own-broadcast",
		"a broadcast is sent from a queue made after a receive queue",
		"it may come back to that receive queue" },
	[SHCA_FINDING_QUEUE_STATE] = { "queue-state",
		"a failed queue is taken for what it was before: name its state (WQ), or query it (QP)",
		"the state in the command is not that of the queue: firmware may refuse it, EINVAL" },
	[SHCA_FINDING_EGRESS_ENTRY] = { "egress-entry",
		"a rule on sent packets has the match of another that lets them go",
		"the first of both that is destroyed takes ALLOW away from the other" },
	[SHCA_FINDING_SEND_STATE] = { "send-state",
		"a send is posted before the queue pair is in RTS",
		"its doorbell is ignored: it is never sent, or only with a later one" },
	[SHCA_FINDING_RECEIVE_STATE] = { "receive-state",
		"a receive is posted while the queue pair is in RESET",
		"the counter begins at 0 with INIT: what is received goes to other WQEs" },
	[SHCA_FINDING_RECEIVE_QUEUE] = { "receive-queue",
		"a receive is posted to a queue pair that has no receive queue of its own",
		"nobody reads it: WQEs come from the shared receive queue, or none are taken" },
	[SHCA_FINDING_SEND_UNSIGNALED] = { "send-unsignaled",
		"as many sends as the queue was made for, and none of them asks for a completion",
		"none comes: the program cannot learn that there is room again" },
	[SHCA_FINDING_SEND_LENGTH] = { "send-length",
		"the message is longer than a path's MTU (datagram) or 1 GiB",
		"error CQE, local length (0x01); or the port drops the datagram" },
	[SHCA_FINDING_ATOMIC_ADDRESS] = { "atomic-address",
		"the remote address of an atomic is not a multiple of 8",
		"error CQE, remote invalid request (0x12); both queue pairs go to error" },
	[SHCA_FINDING_AH_DOMAIN] = { "ah-domain",
		"the address handle is of another protection domain than the queue pair",
		"this one does not look; others refuse it (IBTA 10.2.3)" },
	[SHCA_FINDING_PATH] = { "path",
		"the addresses of the path do not fit together",
		"the packets are dropped on their way, or by the port they come to" },
	[SHCA_FINDING_PATH_MTU] = { "path-mtu",
		"the path's MTU is more than the port's active MTU",
		"the port drops longer packets: retries are exceeded" },
	[SHCA_FINDING_QP_DESTINATION] = { "qp-destination",
		"the number of the other queue pair is one that no connected queue pair has",
		"nobody answers: retries are exceeded" },
	[SHCA_FINDING_QP_READS] = { "qp-reads",
		"a read or an atomic has come that is allowed, and max_dest_rd_atomic has room for none",
		"it is refused: both queue pairs go to error" },
	[SHCA_FINDING_QP_TIMEOUT] = { "qp-timeout",
		"no time limit for answers: timeout is 0",
		"after the first packet that is lost it waits for ever" },
};
/* clang-format on */

static const char *const mode_names[] = {
	[SHCA_STRICT_OFF] = "off",
	[SHCA_STRICT_REPORT] = "report",
	[SHCA_STRICT_ABORT] = "abort",
};

int
shca_findings_find_mode(const char *name, enum shca_strict *mode)
{
	for (unsigned int i = 0; i < sizeof(mode_names) / sizeof(mode_names[0]); i++)
		if (strcmp(name == NULL ? "report" : name, mode_names[i]) == 0) {
			*mode = (enum shca_strict)i;
			return 0;
		}
	return -EINVAL;
}

const char *
shca_findings_mode_name(enum shca_strict mode)
{
	return mode_names[mode];
}

static void
print_bytes(const uint8_t *bytes, size_t length)
{
	for (size_t at = 0; at < length; at += LINE_BYTES) {
		char text[64] = "";
		size_t used = 0;

		for (size_t i = at; i + 4 <= length && i < at + LINE_BYTES; i += 4) {
			uint32_t word;

			memcpy(&word, bytes + i, sizeof(word));
			used += (size_t)snprintf(
				text + used, sizeof(text) - used, " %08" PRIx32, be32toh(word));
		}
		SHCA_ERR("strict:   %02zx:%s", at, text);
	}
}

static bool
is_of_another(const struct shca_context *context)
{
	return context != NULL && context->program != NULL;
}

static void
print(const struct shca_finding_row *row, const struct shca_finding_site *site)
{
	SHCA_ERR("strict: mlx5_%u %s 0x%" PRIx32 " index %" PRIu32 ": %s: %s", site->device,
		site->queue, site->number, site->index, row->name, row->what);
	SHCA_ERR("strict:   hardware: %s", row->hardware);
	if (is_of_another(site->context))
		SHCA_ERR("strict:   process %d (%s)", (int)site->context->pid, site->context->comm);
	if (site->decoded != NULL)
		SHCA_ERR("strict:   %s", site->decoded);
	if (site->bytes != NULL)
		print_bytes(site->bytes, site->nb_bytes < DUMP_MAX ? site->nb_bytes : DUMP_MAX);
}

/** End another process as this one would end: no handler of it is asked. */
static void
end(const struct shca_context *context)
{
	context->program->is_ended = true;
	if (syscall(SYS_pidfd_send_signal, context->program->pidfd, SIGKILL, NULL, 0) == 0)
		SHCA_ERR("strict: process %d is ended", (int)context->pid);
	else
		SHCA_ERR("strict: process %d cannot be ended: %s", (int)context->pid,
			strerror(errno));
}

void
shca_findings_report(struct shca_findings *findings, enum shca_finding finding,
	const struct shca_finding_site *site)
{
	const struct shca_finding_row *row = &shca_finding_rows[finding];
	unsigned int nb;

	if (is_of_another(site->context) && site->context->program->is_ended)
		return;
	nb = __atomic_fetch_add(&findings->nb_printed[finding], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&findings->count[finding], 1, __ATOMIC_RELAXED);
	if (nb < SHCA_FINDINGS_PRINTED)
		print(row, site);
	else if (nb == SHCA_FINDINGS_PRINTED)
		SHCA_ERR("strict: more of %s: counted, not shown", row->name);
	if (findings->mode != SHCA_STRICT_ABORT)
		return;
	if (is_of_another(site->context))
		end(site->context);
	else /* exit() would run handlers that wait for the device thread, which is this thread. */
		syscall(SYS_exit_group, SHCA_FINDINGS_EXIT);
}

#define COUNT_BYTES (SHCA_NB_FINDINGS * sizeof(uint64_t))

int
shca_findings_map(const char *path, bool create, uint64_t **count)
{
	void *map;
	int ret = shca_shared_map(path, create, COUNT_BYTES, &map);

	if (ret == 0)
		*count = map;
	return ret;
}

void
shca_findings_unmap(uint64_t *count)
{
	shca_shared_unmap(count, COUNT_BYTES);
}

uint64_t
shca_findings_sum(const uint64_t *count, char *text, size_t size)
{
	uint64_t sum = 0;
	size_t used;

	for (unsigned int i = 0; i < SHCA_NB_FINDINGS; i++)
		sum += count[i];
	if (sum == 0) {
		snprintf(text, size, "no findings");
		return 0;
	}
	used = (size_t)snprintf(text, size, "%" PRIu64 " finding%s:", sum, sum == 1 ? "" : "s");
	for (unsigned int i = 0; i < SHCA_NB_FINDINGS && used < size; i++)
		if (count[i] != 0)
			used += (size_t)snprintf(text + used, size - used, " %s %" PRIu64,
				shca_finding_rows[i].name, count[i]);
	return sum;
}
