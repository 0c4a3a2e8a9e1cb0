/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of queue pairs with a transport. */
#include "hw/roce/count.h"

#include "hw/roce/state.h"

#define NAME(name, text) [SHCA_ROCE_COUNT_##name] = (text),
const char *const shca_roce_count_names[SHCA_NB_ROCE_COUNTS] = { SHCA_ROCE_COUNTS(NAME) };

void
shca_roce_count_out_of_buffer(struct shca_roce_qp *qp)
{
	qp->dev->stats.out_of_buffer++;
	qp->counts.out_of_buffer++;
}

static void
add(struct shca_roce_qp *qp, enum shca_roce_count which, uint64_t nb)
{
	qp->dev->roce_count[which] += nb;
	qp->counts.roce[which] += nb;
}

void
shca_roce_count(struct shca_roce_qp *qp, enum shca_roce_count which)
{
	add(qp, which, 1);
}

static void
move(struct shca_roce_qp *qp, enum shca_roce_count which, uint64_t *from)
{
	add(qp, which, *from);
	*from = 0;
}

void
shca_roce_count_engines(struct shca_roce_qp *qp)
{
	struct shca_requester *requester = &qp->requester;
	struct shca_responder *responder = &qp->responder;

	move(qp, SHCA_ROCE_COUNT_RX_WRITE_REQUESTS, &responder->nb_writes);
	move(qp, SHCA_ROCE_COUNT_RX_READ_REQUESTS, &responder->nb_reads);
	move(qp, SHCA_ROCE_COUNT_RX_ATOMIC_REQUESTS, &responder->nb_atomics_done);
	move(qp, SHCA_ROCE_COUNT_OUT_OF_SEQUENCE, &responder->nb_out_of_sequence);
	move(qp, SHCA_ROCE_COUNT_DUPLICATE_REQUEST, &responder->nb_duplicates);
	move(qp, SHCA_ROCE_COUNT_RNR_NAK_RETRY_ERR, &requester->nb_rnr);
	move(qp, SHCA_ROCE_COUNT_PACKET_SEQ_ERR, &requester->nb_sequence_naks);
	move(qp, SHCA_ROCE_COUNT_IMPLIED_NAK_SEQ_ERR, &requester->nb_implied_naks);
	move(qp, SHCA_ROCE_COUNT_LOCAL_ACK_TIMEOUT_ERR, &requester->nb_timeouts);
}

const uint64_t *
shca_roce_counts(struct shca_device *dev)
{
	struct shca_roce_qp *qp;

	LIST_FOREACH (qp, &dev->roce_qps, link)
		shca_roce_count_engines(qp);
	return dev->roce_count;
}

#define IS_GROUP 0x01 /* of a MAC's first byte */

static void
count_frame(struct shca_roce_traffic traffic[2], const struct shca_frame *frame)
{
	struct shca_roce_traffic *kind = &traffic[(frame->bytes[0] & IS_GROUP) != 0];

	kind->packets++;
	kind->octets += frame->length;
}

void
shca_roce_count_sent(struct shca_device *dev, const struct shca_frame *frame)
{
	count_frame(dev->roce_traffic.sent, frame);
}

void
shca_roce_count_received(struct shca_device *dev, const struct shca_frame *frame)
{
	count_frame(dev->roce_traffic.received, frame);
}

const char *const shca_roce_traffic_names[SHCA_NB_ROCE_TRAFFIC] = { "port_xmit_data",
	"port_xmit_packets", "unicast_xmit_packets", "multicast_xmit_packets", "port_rcv_data",
	"port_rcv_packets", "unicast_rcv_packets", "multicast_rcv_packets" };

/** Data is in words of 4 octets (Linux mlx5_ib mad.c pma_cnt_ext_assign()). */
static void
get_traffic(const struct shca_roce_traffic traffic[2], uint64_t count[SHCA_NB_ROCE_TRAFFIC / 2])
{
	count[0] = (traffic[0].octets + traffic[1].octets) / 4;
	count[1] = traffic[0].packets + traffic[1].packets;
	count[2] = traffic[0].packets;
	count[3] = traffic[1].packets;
}

void
shca_roce_traffic(const struct shca_device *dev, uint64_t count[SHCA_NB_ROCE_TRAFFIC])
{
	get_traffic(dev->roce_traffic.sent, count);
	get_traffic(dev->roce_traffic.received, count + SHCA_NB_ROCE_TRAFFIC / 2);
}
