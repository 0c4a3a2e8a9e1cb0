/* SPDX-License-Identifier: BSD-3-Clause */
/* What is measured, one case a row. */
#include <rte_common.h>

#include "bench.h"

#define RX_ALL                                                                                     \
	(RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH | RTE_ETH_RX_OFFLOAD_VLAN_STRIP)
#define TX_FREE RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE
#define TX_CSUM                                                                                    \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |                            \
		RTE_ETH_TX_OFFLOAD_TCP_CKSUM)
#define TX_VLAN  RTE_ETH_TX_OFFLOAD_VLAN_INSERT
#define TX_TSO   (TX_CSUM | RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS)
#define ASK_CSUM (RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM)
#define ASK_TSO                                                                                    \
	(RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM |                   \
		RTE_MBUF_F_TX_TCP_SEG)

#define RX(text, bytes, nb) .name = text, .size = bytes, .burst = nb, .nb_queues = 1, .nb_segs = 1
#define TX(text, bytes, nb) RX(text, bytes, nb), .what = BENCH_TX
#define SCALING(text, queues, lcores)                                                              \
	.name = text, .size = 60, .burst = 32, .nb_queues = queues, .nb_segs = 1,                  \
	.nb_lcores = lcores

/* clang-format off */
const struct bench_case bench_cases[] = {
	{ RX("mbuf pool get x32", 60, 32), .what = BENCH_POOL_GET },
	{ RX("mbuf pool put x32", 60, 32), .what = BENCH_POOL_PUT },
	{ RX("rx plain 64 B x32", 60, 32) },
	{ RX("rx plain 64 B x8", 60, 8) },
	{ RX("rx plain 64 B x64", 60, 64) },
	{ RX("rx plain 256 B x32", 252, 32) },
	{ RX("rx plain 1518 B x32", 1514, 32) },
	{ RX("rx plain IMIX x32", BENCH_IMIX, 32) },
	{ RX("rx plain 64 B x32 touched", 60, 32), .touch = true },
	{ RX("rx plain 64 B x32 cold", 60, 32), .cold = true },
	{ RX("rx plain 64 B x8 cold", 60, 8), .cold = true },
	{ .name = "rx plain 64 B x32 4 queues", .size = 60, .burst = 32, .nb_queues = 4, .nb_segs = 1 },
	{ RX("rx offloads 64 B x32", 60, 32), .offloads = RX_ALL },
	{ RX("rx offloads 64 B x8", 60, 8), .offloads = RX_ALL },
	{ RX("rx offloads IMIX x32", BENCH_IMIX, 32), .offloads = RX_ALL },
	{ RX("rx offloads 64 B x32 cold", 60, 32), .offloads = RX_ALL, .cold = true },
	{ RX("rx scattered 64 B x32", 60, 32), .offloads = RTE_ETH_RX_OFFLOAD_SCATTER, .room = 512 },
	{ RX("rx scattered 1518 B x32", 1514, 32), .offloads = RTE_ETH_RX_OFFLOAD_SCATTER,
		.room = 512 },
	{ TX("tx fast free 64 B x32", 60, 32), .offloads = TX_FREE },
	{ TX("tx fast free 64 B x8", 60, 8), .offloads = TX_FREE },
	{ TX("tx fast free 64 B x64", 60, 64), .offloads = TX_FREE },
	{ TX("tx fast free 256 B x32", 252, 32), .offloads = TX_FREE },
	{ TX("tx fast free 1518 B x32", 1514, 32), .offloads = TX_FREE },
	{ TX("tx fast free IMIX x32", BENCH_IMIX, 32), .offloads = TX_FREE },
	{ TX("tx fast free 64 B x32 cold", 60, 32), .offloads = TX_FREE, .cold = true },
	{ .name = "tx fast free 64 B x32 4 queues", .size = 60, .burst = 32, .nb_queues = 4,
		.nb_segs = 1, .what = BENCH_TX, .offloads = TX_FREE },
	{ TX("tx plain 64 B x32", 60, 32) },
	{ TX("tx plain 64 B x8", 60, 8) },
	{ TX("tx csum 64 B x32", 60, 32), .offloads = TX_FREE | TX_CSUM, .ol_flags = ASK_CSUM },
	{ TX("tx csum 64 B x8", 60, 8), .offloads = TX_FREE | TX_CSUM, .ol_flags = ASK_CSUM },
	{ TX("tx csum IMIX x32", BENCH_IMIX, 32), .offloads = TX_CSUM, .ol_flags = ASK_CSUM },
	{ TX("tx vlan 64 B x32", 60, 32), .offloads = TX_FREE | TX_VLAN,
		.ol_flags = RTE_MBUF_F_TX_VLAN },
	{ .name = "tx segments 256 B x32", .size = 252, .burst = 32, .nb_queues = 1, .nb_segs = 3,
		.what = BENCH_TX, .offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS },
	{ TX("tx tso 1518 B x32", 1514, 32), .offloads = TX_TSO, .ol_flags = ASK_TSO },
	{ TX("tx tso 1518 B x8", 1514, 8), .offloads = TX_TSO, .ol_flags = ASK_TSO },
	{ .name = "tx tso 1518 B 3 segments x32", .size = 1514, .burst = 32, .nb_queues = 1,
		.nb_segs = 3, .what = BENCH_TX, .offloads = TX_TSO, .ol_flags = ASK_TSO },
	{ SCALING("scaling rx 1 queue 1 lcore", 1, 1) },
	{ SCALING("scaling rx 2 queues 1 lcore", 2, 1) },
	{ SCALING("scaling rx 4 queues 1 lcore", 4, 1) },
	{ SCALING("scaling rx 2 queues 2 lcores", 2, 2) },
	{ SCALING("scaling rx 4 queues 2 lcores", 4, 2) },
	{ SCALING("scaling tx 1 queue 1 lcore", 1, 1), .what = BENCH_TX, .offloads = TX_FREE },
	{ SCALING("scaling tx 2 queues 1 lcore", 2, 1), .what = BENCH_TX, .offloads = TX_FREE },
	{ SCALING("scaling tx 4 queues 1 lcore", 4, 1), .what = BENCH_TX, .offloads = TX_FREE },
	{ SCALING("scaling tx 2 queues 2 lcores", 2, 2), .what = BENCH_TX, .offloads = TX_FREE },
	{ SCALING("scaling tx 4 queues 2 lcores", 4, 2), .what = BENCH_TX, .offloads = TX_FREE },
};
/* clang-format on */
const unsigned int bench_nb_cases = RTE_DIM(bench_cases);
