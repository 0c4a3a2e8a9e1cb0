/* SPDX-License-Identifier: BSD-3-Clause */
/* The measured cases: kinds, one a row, each in many shapes. */
#include <stdio.h>

#include <rte_common.h>

#include "bench.h"

#define RX_CSUM (RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH)
#define RX_MOST (RX_CSUM | RTE_ETH_RX_OFFLOAD_VLAN_STRIP)
#define RX_ALL  (RX_MOST | RTE_ETH_RX_OFFLOAD_TIMESTAMP)
#define TX_FREE RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE
#define TX_CSUM                                                                                    \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |                            \
		RTE_ETH_TX_OFFLOAD_TCP_CKSUM)
#define TX_VLAN  RTE_ETH_TX_OFFLOAD_VLAN_INSERT
#define TX_MULTI RTE_ETH_TX_OFFLOAD_MULTI_SEGS
#define TX_TSO   (TX_CSUM | TX_MULTI | RTE_ETH_TX_OFFLOAD_TCP_TSO)
#define ASK_CSUM (RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM)
#define ASK_TSO                                                                                    \
	(RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM |                   \
		RTE_MBUF_F_TX_TCP_SEG)

#define CASES_MAX 1024

#define KIND(text)      .kind = text
#define TX(text)        KIND(text), .what = BENCH_TX
#define SIZES(from, to) .first_size = from, .last_size = to
/** No shapes: 64 B, bursts of 32. */
#define ONE(text, queues, lcores)                                                                  \
	.kind = text, .size = 60, .burst = 32, .nb_queues = queues, .nb_segs = 1,                  \
	.nb_lcores = lcores

/** In the order of variation: the first of each is the usual one. */
enum {
	SIZE_64,
	SIZE_256,
	SIZE_1518,
	SIZE_IMIX,
	NB_SIZES
};
static const struct {
	uint16_t bytes;
	const char *name;
} sizes[NB_SIZES] = { { 60, "64 B" }, { 252, "256 B" }, { 1514, "1518 B" },
	{ BENCH_IMIX, "IMIX" } };
static const uint16_t bursts[] = { 32, 8, 64 };
static const uint16_t queues[] = { 1, 4 };

/* clang-format off */
/** The other shapes have the first size. */
static const struct {
	struct bench_case like;
	unsigned int first_size, last_size;
} kinds[] = {
	{ { KIND("rx plain") }, SIZES(SIZE_64, SIZE_IMIX) },
	{ { KIND("rx offloads"), .offloads = RX_MOST }, SIZES(SIZE_64, SIZE_IMIX) },
	{ { KIND("rx marked"), .offloads = RX_MOST, .marked = true }, SIZES(SIZE_64, SIZE_64) },
	{ { KIND("rx all offloads"), .offloads = RX_ALL, .marked = true },
		SIZES(SIZE_64, SIZE_IMIX) },
	{ { KIND("rx scattered"), .offloads = RTE_ETH_RX_OFFLOAD_SCATTER, .room = 512 },
		SIZES(SIZE_64, SIZE_IMIX) },
	{ { TX("tx fast free"), .offloads = TX_FREE }, SIZES(SIZE_64, SIZE_IMIX) },
	{ { TX("tx plain") }, SIZES(SIZE_64, SIZE_IMIX) },
	{ { TX("tx csum"), .offloads = TX_FREE | TX_CSUM, .ol_flags = ASK_CSUM },
		SIZES(SIZE_64, SIZE_IMIX) },
	{ { TX("tx csum without fast free"), .offloads = TX_CSUM, .ol_flags = ASK_CSUM },
		SIZES(SIZE_64, SIZE_64) },
	{ { TX("tx vlan"), .offloads = TX_FREE | TX_VLAN, .ol_flags = RTE_MBUF_F_TX_VLAN },
		SIZES(SIZE_64, SIZE_IMIX) },
	{ { TX("tx segments"), .offloads = TX_MULTI, .nb_segs = 3 },
		SIZES(SIZE_256, SIZE_1518) },
	{ { TX("tx tso"), .offloads = TX_TSO, .ol_flags = ASK_TSO },
		SIZES(SIZE_1518, SIZE_1518) },
	{ { TX("tx tso segments"), .offloads = TX_TSO, .ol_flags = ASK_TSO, .nb_segs = 3 },
		SIZES(SIZE_1518, SIZE_1518) },
};

/** Cases without other shapes. */
static const struct bench_case singles[] = {
	{ ONE("mbuf pool get x32", 1, 0), .what = BENCH_POOL_GET },
	{ ONE("mbuf pool put x32", 1, 0), .what = BENCH_POOL_PUT },
	{ ONE("scaling rx 1 queue 1 lcore", 1, 1) },
	{ ONE("scaling rx 2 queues 1 lcore", 2, 1) },
	{ ONE("scaling rx 4 queues 1 lcore", 4, 1) },
	{ ONE("scaling rx 2 queues 2 lcores", 2, 2) },
	{ ONE("scaling rx 4 queues 2 lcores", 4, 2) },
	{ ONE("scaling tx 1 queue 1 lcore", 1, 1), .what = BENCH_TX, .offloads = TX_FREE },
	{ ONE("scaling tx 2 queues 1 lcore", 2, 1), .what = BENCH_TX, .offloads = TX_FREE },
	{ ONE("scaling tx 4 queues 1 lcore", 4, 1), .what = BENCH_TX, .offloads = TX_FREE },
	{ ONE("scaling tx 2 queues 2 lcores", 2, 2), .what = BENCH_TX, .offloads = TX_FREE },
	{ ONE("scaling tx 4 queues 2 lcores", 4, 2), .what = BENCH_TX, .offloads = TX_FREE },
};
/* clang-format on */

static struct bench_case made[CASES_MAX];
static unsigned int nb_made;

static void
single_add(const struct bench_case *single)
{
	made[nb_made] = *single;
	snprintf(made[nb_made].name, sizeof(made[0].name), "%s", single->kind);
	nb_made++;
}

/** @param nth index in each list above, then in { no, yes } */
static void
shape_add(const struct bench_case *like, unsigned int size, unsigned int burst, unsigned int queue,
	bool cold, bool touch)
{
	struct bench_case *how = &made[nb_made++];

	*how = *like;
	how->nb_segs = RTE_MAX(like->nb_segs, 1);
	how->size = sizes[size].bytes;
	how->burst = bursts[burst];
	how->nb_queues = queues[queue];
	how->cold = cold;
	how->touch = touch;
	snprintf(how->name, sizeof(how->name), "%s %s x%u%s%s%s", like->kind, sizes[size].name,
		how->burst, touch ? " touched" : "", cold ? " cold" : "",
		queue != 0 ? " 4 queues" : "");
}

static void
kind_add(const struct bench_case *like, unsigned int first, unsigned int last, bool all)
{
	const unsigned int nb_bursts = RTE_DIM(bursts), nb_queues = RTE_DIM(queues);
	const unsigned int nb_touch = like->what == BENCH_RX ? 2 : 1;
	const unsigned int nb = (last - first + 1) * nb_bursts * nb_queues * 2 * nb_touch;
	unsigned int i;

	for (i = 0; i < nb && nb_made < CASES_MAX; i++) {
		const unsigned int size = i % (last - first + 1), after = i / (last - first + 1);
		const unsigned int burst = after % nb_bursts, queue = after / nb_bursts % nb_queues;
		const unsigned int cold = after / nb_bursts / nb_queues % 2;
		const unsigned int touch = after / nb_bursts / nb_queues / 2;

		if (all || (size != 0) + (burst != 0) + (queue != 0) + cold + touch <= 1)
			shape_add(like, first + size, burst, queue, cold, touch);
	}
}

unsigned int
bench_cases(bool all, const struct bench_case **cases)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(singles); i++)
		single_add(&singles[i]);
	for (i = 0; i < RTE_DIM(kinds); i++)
		kind_add(&kinds[i].like, kinds[i].first_size, kinds[i].last_size, all);
	*cases = made;
	return nb_made;
}
