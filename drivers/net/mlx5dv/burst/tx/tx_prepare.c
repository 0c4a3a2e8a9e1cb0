/* SPDX-License-Identifier: BSD-3-Clause */
/* Before a burst: checks that the queue will take the packets, and sets their checksum fields as
 * ethdev requires. */
#include <rte_errno.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "base/dm_mbuf.h"
#include "device/device.h"
#include "queue/tx/tx_ibv.h"
#include "tx.h"
#include "tx_swp.h"
#include "tx_tso.h"

/** @return 0, or -ENOTSUP: the queue was not set up for it, the device does not know the tunnel,
 * or the headers are in device memory */
static int
check_flags(const struct mdv_tx_limits *limits, const struct rte_mbuf *mbuf)
{
	const uint64_t inner = RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_L4_MASK;
	const uint64_t ol_flags = mbuf->ol_flags;
	const uint16_t tunnel = 1u << mdv_tx_tunnel(ol_flags);

	if (ol_flags & RTE_MBUF_F_TX_OFFLOAD_MASK & ~limits->ol_flags)
		return -ENOTSUP;
	if (!(limits->l4_csums & 1u << mdv_tx_l4_csum(ol_flags)))
		return -ENOTSUP;
	if ((ol_flags & inner) != 0 && !(limits->tunnels & tunnel))
		return -ENOTSUP;
	if ((ol_flags & RTE_MBUF_F_TX_TCP_SEG) && !(limits->tso_tunnels & tunnel))
		return -ENOTSUP;
	/* The burst copies the headers. */
	if ((ol_flags & RTE_MBUF_F_TX_TCP_SEG) &&
		mdv_dm_mbuf_is_partly(mbuf, mdv_tx_tso_header(mbuf)))
		return -ENOTSUP;
	return rte_validate_tx_offload(mbuf);
}

/** @return 0, or -EINVAL: the burst would refuse a packet of such lengths */
static int
check_lengths(const struct mdv_tx_limits *limits, const struct rte_mbuf *mbuf)
{
	uint32_t ds = MDV_TX_WQE_DS_HEAD_INLINE;

	if (mbuf->nb_segs > 1 && !limits->multi)
		return -EINVAL;
	if (mdv_tx_swp_wanted(mbuf->ol_flags) && !mdv_tx_swp_fits(mbuf))
		return -EINVAL;
	if (mbuf->ol_flags & RTE_MBUF_F_TX_TCP_SEG) {
		const uint32_t header = mdv_tx_tso_header(mbuf);
		const uint32_t l2_len = mbuf->ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK
			? mbuf->outer_l2_len
			: mbuf->l2_len;

		if (l2_len < RTE_ETHER_HDR_LEN || mbuf->l3_len < sizeof(struct rte_ipv4_hdr) ||
			header == 0 || mbuf->pkt_len < header ||
			mbuf->pkt_len - header > limits->tso_max)
			return -EINVAL;
		ds = mdv_tx_wqe_ds_inline(header + RTE_VLAN_HLEN);
	} else if (mbuf->pkt_len < MDV_TX_FRAME_MIN || mbuf->pkt_len > MDV_TX_FRAME_MAX) {
		return -EINVAL;
	}
	return mbuf->nb_segs <= RTE_MIN(MDV_TX_DS_MAX - ds, (uint32_t)limits->segs) ? 0 : -EINVAL;
}

/**
 * Write 16 bits at an offset of the chain; device memory stays unchanged (dm.h).
 * @return 0, or -EINVAL: behind the packet
 */
static int
put_16(struct rte_mbuf *mbuf, uint32_t offset, rte_be16_t value)
{
	const uint8_t *from = (const uint8_t *)&value;
	unsigned int i;

	if (offset + sizeof(value) > mbuf->pkt_len)
		return -EINVAL;
	for (i = 0; i < sizeof(value) && mbuf != NULL;) {
		if (offset >= mbuf->data_len) {
			offset -= mbuf->data_len;
			mbuf = mbuf->next;
			continue;
		}
		if (!mdv_dm_mbuf_is(mbuf))
			*rte_pktmbuf_mtod_offset(mbuf, uint8_t *, offset) = from[i];
		offset++;
		i++;
	}
	return 0;
}

/** Compute the checksum of the pseudo header, for TSO without the length. */
static int
put_pseudo(struct rte_mbuf *mbuf, uint32_t l3, uint32_t field)
{
	const bool ipv4 = (mbuf->ol_flags & RTE_MBUF_F_TX_IPV4) != 0;
	const size_t size = ipv4 ? sizeof(struct rte_ipv4_hdr) : sizeof(struct rte_ipv6_hdr);
	struct rte_ipv6_hdr copy;
	const void *ip = rte_pktmbuf_read(mbuf, l3, size, &copy);

	if (ip == NULL)
		return -EINVAL;
	/* The header's type has an even address, and the packet's header any. */
	if (ip != &copy)
		memcpy(&copy, ip, size);
	return put_16(mbuf, l3 + mbuf->l3_len + field,
		ipv4 ? rte_ipv4_phdr_cksum((void *)&copy, mbuf->ol_flags)
		     : rte_ipv6_phdr_cksum(&copy, mbuf->ol_flags));
}

/**
 * Set the fields as the sender of a datagram with checksum offload leaves them. The device ignores
 * these fields, but captures and virtual devices that see the packet first use them.
 */
static int
fill_checksums(struct rte_mbuf *mbuf)
{
	const uint64_t ol_flags = mbuf->ol_flags;
	const uint32_t ip_field = offsetof(struct rte_ipv4_hdr, hdr_checksum);
	uint32_t l3 = mbuf->l2_len;
	int ret = 0;

	if (ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK)
		l3 += mbuf->outer_l2_len + mbuf->outer_l3_len;
	/* Headers in device memory are not even read: each word takes a round trip to the device,
	 * and a secondary process does not have the memory mapped. */
	if (mdv_dm_mbuf_is_partly(mbuf, l3 + mbuf->l3_len))
		return 0;
	if ((ol_flags & RTE_MBUF_F_TX_TUNNEL_MASK) && (ol_flags & RTE_MBUF_F_TX_OUTER_IP_CKSUM))
		ret = put_16(mbuf, mbuf->outer_l2_len + ip_field, 0);
	if (ret == 0 && (ol_flags & RTE_MBUF_F_TX_IP_CKSUM))
		ret = put_16(mbuf, l3 + ip_field, 0);
	if (ret != 0)
		return ret;
	if ((ol_flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_UDP_CKSUM)
		return put_pseudo(mbuf, l3, offsetof(struct rte_udp_hdr, dgram_cksum));
	if (ol_flags & (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_TCP_SEG))
		return put_pseudo(mbuf, l3, offsetof(struct rte_tcp_hdr, cksum));
	return 0;
}

uint16_t
mdv_tx_prepare(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	const struct mdv_txq *txq = queue;
	uint16_t i;

	for (i = 0; i < nb_pkts; i++) {
		int ret = check_flags(&txq->limits, pkts[i]);

		if (ret == 0)
			ret = check_lengths(&txq->limits, pkts[i]);
		if (ret == 0)
			ret = fill_checksums(pkts[i]);
		if (ret != 0) {
			rte_errno = -ret;
			break;
		}
	}
	return i;
}
