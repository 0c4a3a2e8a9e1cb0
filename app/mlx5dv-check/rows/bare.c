/* SPDX-License-Identifier: BSD-3-Clause */
/* Experiments by verbs and direct verbs, beside the port: doc/design/hardware-questions.md has the
 * questions. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <rte_errno.h>

#include "bare.h"

#define SHORT_LEAST    14
#define SHORT_MOST     18
#define CQ_DEPTH       3 /* libmlx5 makes a power of two above */
#define COPIES_MS      50
#define ETHERTYPE_OURS 0x88b5 /* IEEE 802: for local experiments */

/** How often a frame came. */
struct copies {
	unsigned int bare[2], port;
};

/** Send a frame from the peer, and count it where it comes. @return false: the row has failed */
static bool
count_copies(struct check *check, struct check_bare *bare, unsigned int nb_bare,
	const struct check_frame *frame, struct copies *copies)
{
	struct rte_mbuf *mbuf = check_traffic_frame(check, CHECK_PEER, frame, 0);
	uint8_t bytes[SHORT_LEAST];
	struct check_gots gots;
	uint64_t end;
	int ret;

	if (mbuf == NULL)
		return check_fail(check, "no mbuf") == CHECK_PASS;
	memcpy(bytes, rte_pktmbuf_mtod(mbuf, const uint8_t *), sizeof(bytes));
	rte_pktmbuf_free(mbuf);
	ret = check_traffic_exchange(check, CHECK_PEER, frame, 1, &gots);
	copies->port = check_traffic_count(&gots, 0, UINT16_MAX);
	check_traffic_free(&gots);
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret)) == CHECK_PASS;
	/* What else the frame comes to may be later than the port. */
	end = check_wait_for(COPIES_MS);
	do {
		for (unsigned int i = 0; i < nb_bare; i++)
			copies->bare[i] += check_bare_count(&bare[i], bytes, sizeof(bytes));
	} while (check_wait_on(end));
	return true;
}

/** Have each context sniff by a TIR. @return CHECK_PASS, or how the row ends */
static enum check_result
sniff(struct check *check, struct check_bare *bare, unsigned int nb_bare)
{
	for (unsigned int i = 0; i < nb_bare; i++) {
		enum check_result result = check_bare_open(check, &bare[i]);
		struct check_bare_attr attr = { .attr = { .type = IBV_FLOW_ATTR_SNIFFER,
							.size = sizeof(attr.attr),
							.port = bare[i].port } };
		struct ibv_qp *tir = result == CHECK_PASS ? check_bare_tir(&bare[i]) : NULL;
		const int ret = tir == NULL ? errno : check_bare_rule(&bare[i], tir, &attr);

		if (result != CHECK_PASS)
			return result;
		if (ret != 0)
			return check_seen(check, "%s sniffer by a %s is refused: %s",
				i == 0 ? "the first" : "a second",
				check->port[CHECK_PORT].is_function
					? "virtual function's TIR"
					: "TIR of a function that is not virtual",
				strerror(ret));
	}
	return CHECK_PASS;
}

/** Q5: two processes' sniffers, which are two contexts. */
static enum check_result
two_sniffers(struct check *check)
{
	const struct check_frame frame = { .src = CHECK_RULE_SRC };
	struct check_bare bare[2] = { 0 };
	struct copies copies = { 0 };
	enum check_result result = sniff(check, bare, RTE_DIM(bare));

	if (result == CHECK_PASS && !count_copies(check, bare, RTE_DIM(bare), &frame, &copies))
		result = CHECK_FAIL;
	else if (result == CHECK_PASS)
		result = check_seen(check,
			"%s takes two by TIRs; the port's frame came to the first %u times, to the second %u, to the port itself %u",
			check->port[CHECK_PORT].is_function ? "a virtual function"
							    : "a function that is not virtual",
			copies.bare[0], copies.bare[1], copies.port);
	check_bare_close(&bare[1]);
	check_bare_close(&bare[0]);
	return result;
}

/** @return the length of a frame that begins with @p bytes, as the peer sees it, or 0 */
static uint32_t
await(struct check *check, const uint8_t *bytes, unsigned int nb_bytes)
{
	const struct check_port *peer = &check->port[CHECK_PEER];
	const uint64_t end = check_wait_end(check);
	struct rte_mbuf *mbufs[32];
	uint32_t length = 0;

	while (length == 0 && check_wait_on(end))
		for (uint16_t q = 0; q < peer->nb_queues; q++) {
			const uint16_t nb = rte_eth_rx_burst(peer->id, q, mbufs, RTE_DIM(mbufs));

			for (uint16_t i = 0; i < nb; i++)
				if (rte_pktmbuf_data_len(mbufs[i]) >= nb_bytes &&
					memcmp(rte_pktmbuf_mtod(mbufs[i], const uint8_t *), bytes,
						nb_bytes) == 0)
					length = mbufs[i]->pkt_len;
			rte_pktmbuf_free_bulk(mbufs, nb);
		}
	return length;
}

/** @return whether a completion came; *status is its */
static bool
completes(const struct check *check, struct ibv_cq *cq, enum ibv_wc_status *status)
{
	const uint64_t end = check_wait_end(check);
	struct ibv_wc wc;
	int nb;

	do {
		nb = ibv_poll_cq(cq, 1, &wc);
	} while (nb == 0 && check_wait_on(end));
	*status = wc.status;
	return nb == 1;
}

/** Send one frame of @p size bytes, by a queue of its own, and add to @p text what became of it. */
static void
send_short(struct check *check, struct check_bare *bare, uint8_t size, char *text, size_t room)
{
	const struct rte_ether_hdr eth = { .dst_addr = check->port[CHECK_PEER].mac,
		.src_addr = { { 0x02, 0, 0, 0, 1, size } },
		.ether_type = rte_cpu_to_be_16(ETHERTYPE_OURS) };
	struct ibv_qp *qp = check_bare_sender(bare, bare->cq);
	uint8_t bytes[SHORT_MOST] = { 0 };
	enum ibv_wc_status status;
	uint32_t length;
	int ret;

	memcpy(bytes, &eth, sizeof(eth));
	ret = qp == NULL ? errno : check_bare_send(bare, qp, bytes, size);
	if (ret != 0)
		snprintf(text, room, "refused by verbs: %s", strerror(ret));
	else if (!completes(check, bare->cq, &status))
		snprintf(text, room, "no completion");
	else if (status != IBV_WC_SUCCESS)
		snprintf(text, room, "%s", ibv_wc_status_str(status));
	else if ((length = await(check, bytes, sizeof(eth))) == 0)
		snprintf(text, room, "completes, and does not come");
	else
		snprintf(text, room, "comes with %" PRIu32, length);
	if (qp != NULL)
		ibv_destroy_qp(qp);
}

/** Q6: frames that end with their Ethernet header, or a little behind it. */
static enum check_result
short_frames(struct check *check)
{
	char text[SHORT_MOST - SHORT_LEAST + 1][80];
	struct check_bare bare;
	enum check_result result = check_bare_open(check, &bare);

	for (uint8_t i = 0; i < RTE_DIM(text) && result == CHECK_PASS; i++)
		send_short(check, &bare, SHORT_LEAST + i, text[i], sizeof(text[i]));
	check_bare_close(&bare);
	return result != CHECK_PASS
		? result
		: check_seen(check, "of 14 bytes %s; 15 %s; 16 %s; 17 %s; 18 %s", text[0], text[1],
			  text[2], text[3], text[4]);
}

/** @return the event of the CQ or of its queue that is there, or NULL */
static const char *
event_of(struct ibv_context *ctx)
{
	const int flags = fcntl(ctx->async_fd, F_GETFL);
	struct ibv_async_event event;
	const char *name = NULL;

	if (flags < 0 || fcntl(ctx->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return NULL;
	while (ibv_get_async_event(ctx, &event) == 0) {
		name = event.event_type == IBV_EVENT_CQ_ERR ||
				(name == NULL && event.event_type == IBV_EVENT_QP_FATAL)
			? ibv_event_type_str(event.event_type)
			: name;
		ibv_ack_async_event(&event);
	}
	return name;
}

/** What a CQ's record says while nothing was consumed. */
enum index {
	INDEX_RIGHT,   /**< that */
	INDEX_AHEAD,   /**< a CQE was, which was not there */
	INDEX_SWAPPED, /**< 1 in the wrong byte order */
	INDEX_BEHIND,  /**< less than nothing, so that one CQE fewer has room */
	NB_INDEXES,
};

/** @return how many CQEs were written of twice as many as there are, one frame each; *event is what
 * came instead of the next */
static unsigned int
fill(struct check *check, struct check_bare *bare, struct ibv_qp *qp, const struct mlx5dv_cq *ring,
	const char **event)
{
	const struct rte_ether_hdr eth = { .dst_addr = check->port[CHECK_PEER].mac,
		.ether_type = rte_cpu_to_be_16(ETHERTYPE_OURS) };
	uint8_t bytes[RTE_ETHER_MIN_LEN] = { 0 };
	unsigned int nb = 0;

	memcpy(bytes, &eth, sizeof(eth));
	for (; nb < 2 * ring->cqe_cnt; nb++) {
		/* PRM, "completion queue entry": its last byte has the owner's bit, which changes
		 * with each round of the ring, and the opcode, which is 0xf before the first. */
		const volatile uint8_t *last = (const volatile uint8_t *)ring->buf +
			(nb % ring->cqe_cnt + 1) * ring->cqe_size - 1;
		const uint8_t before = *last;
		const uint64_t end = check_wait_end(check);

		if (check_bare_send(bare, qp, bytes, sizeof(bytes)) != 0)
			break;
		while (*last == before && *event == NULL && check_wait_on(end))
			*event = event_of(bare->ctx);
		if (*last == before)
			break;
	}
	return nb;
}

/** Fill a CQ whose record has @p index. */
static void
fill_with_index(
	struct check *check, struct check_bare *bare, enum index index, char *text, size_t room)
{
	struct ibv_cq *cq = ibv_create_cq(bare->ctx, CQ_DEPTH, NULL, NULL, 0);
	struct ibv_qp *qp = cq == NULL ? NULL : check_bare_sender(bare, cq);
	struct mlx5dv_cq ring = { 0 };
	struct mlx5dv_obj object = { .cq = { .in = cq, .out = &ring } };
	const int ret = qp == NULL ? errno : mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ);
	const uint32_t values[NB_INDEXES] = { 0, 1, 0x01000000, 0xffffff };
	const char *event = NULL;
	unsigned int nb;

	if (ret != 0) {
		snprintf(text, room, "no CQ: %s", strerror(ret));
	} else {
		*(volatile rte_be32_t *)ring.dbrec = rte_cpu_to_be_32(values[index]);
		nb = fill(check, bare, qp, &ring, &event);
		snprintf(text, room, "with 0x%" PRIx32 " %u of %u are written%s%s", values[index],
			nb, 2 * ring.cqe_cnt, event != NULL ? ", then: " : "",
			event != NULL ? event : "");
	}
	if (qp != NULL)
		ibv_destroy_qp(qp);
	if (cq != NULL)
		ibv_destroy_cq(cq);
}

/** Q7: what is written of twice a CQ's CQEs, by what its record says. */
static enum check_result
consumer_index(struct check *check)
{
	char text[NB_INDEXES][100];
	struct check_bare bare;
	enum check_result result = check_bare_open(check, &bare);

	for (unsigned int i = 0; i < NB_INDEXES && result == CHECK_PASS; i++)
		fill_with_index(check, &bare, i, text[i], sizeof(text[i]));
	check_bare_close(&bare);
	return result != CHECK_PASS
		? result
		: check_seen(check, "%s; %s; %s; %s", text[0], text[1], text[2], text[3]);
}

/** @param ret why one more than @p nb was refused; 0: it was not tried */
static enum check_result
seen_most(struct check *check, unsigned int nb, int ret)
{
	return ret == 0 ? check_seen(check, "%u or more", nb)
			: check_seen(check, "%u, one more is refused: %s", nb, strerror(ret));
}

/** Q9: one entry with ever more destinations. */
static enum check_result
destinations(struct check *check)
{
	struct check_bare bare;
	enum check_result result = check_bare_open(check, &bare);
	struct check_bare_attr attr;
	int ret = 0;

	check_bare_write(&bare, &attr, NULL);
	while (result == CHECK_PASS && ret == 0 && bare.nb_rules < CHECK_BARE_TIRS) {
		struct ibv_qp *tir = check_bare_tir(&bare);

		ret = tir == NULL ? errno : check_bare_rule(&bare, tir, &attr);
	}
	if (result == CHECK_PASS)
		result = seen_most(check, bare.nb_rules, ret);
	check_bare_close(&bare);
	return result;
}

/** Q9: one entry with ever more counters, of a destination each. */
static enum check_result
counters(struct check *check)
{
	struct check_bare bare;
	enum check_result result = check_bare_open(check, &bare);
	struct check_bare_attr attr;
	int ret = 0;

	while (result == CHECK_PASS && ret == 0 && bare.nb_rules < CHECK_BARE_RULES) {
		struct ibv_counters *counter = check_bare_counter(&bare);
		struct ibv_qp *tir = counter == NULL ? NULL : check_bare_tir(&bare);

		check_bare_write(&bare, &attr, counter);
		ret = tir == NULL ? errno : check_bare_rule(&bare, tir, &attr);
	}
	if (result == CHECK_PASS)
		result = seen_most(check, bare.nb_rules, ret);
	check_bare_close(&bare);
	return result;
}

/** Q9: two rules of one entry that name one counter. */
static enum check_result
counter_twice(struct check *check)
{
	const struct check_frame frame = { .src = CHECK_RULE_SRC };
	struct check_bare bare;
	enum check_result result = check_bare_open(check, &bare);
	struct ibv_counters *counter = result == CHECK_PASS ? check_bare_counter(&bare) : NULL;
	int ret = counter == NULL ? errno : 0;
	struct copies copies = { 0 };
	struct check_bare_attr attr;
	uint64_t nb = 0;

	check_bare_write(&bare, &attr, counter);
	for (unsigned int i = 0; i < 2 && ret == 0; i++) {
		struct ibv_qp *tir = check_bare_tir(&bare);

		ret = tir == NULL ? errno : check_bare_rule(&bare, tir, &attr);
	}
	if (result == CHECK_PASS && ret != 0)
		result = check_seen(check, "refused: %s", strerror(ret));
	else if (result == CHECK_PASS && !count_copies(check, &bare, 1, &frame, &copies))
		result = CHECK_FAIL;
	else if (result == CHECK_PASS) {
		ret = ibv_read_counters(counter, &nb, 1, 0);
		result = ret != 0
			? check_seen(check, "it cannot be read: %s", strerror(ret))
			: check_seen(check,
				  "one packet, which came %u times, is %" PRIu64 " of its packets",
				  copies.bare[0], nb);
	}
	check_bare_close(&bare);
	return result;
}

const struct check_row check_rows_bare[] = {
	{ "Q5: two sniffers", "whether TIRs sniff, beside each other and on a VF", two_sniffers },
	{ "Q6: short frames", "what becomes of 14 to 18 bytes", short_frames },
	{ "Q7: consumer index", "what an impossible one does to a CQ", consumer_index },
	{ "Q9: destinations", "how many an entry has", destinations },
	{ "Q9: counters", "how many an entry has", counters },
	{ "Q9: counter twice", "what one counts that two rules of an entry name", counter_twice },
	{ NULL, NULL, NULL },
};
