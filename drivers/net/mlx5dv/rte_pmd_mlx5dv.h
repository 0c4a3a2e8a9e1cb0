/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Functions of net_mlx5dv ports beyond ethdev: memory in the device itself, and the time of
 * timestamps.
 *
 * The device sends a frame in its own memory without a read over PCI. There is little of that
 * memory (128 KB on ConnectX-5), so it is for data that is sent again and again: templates of
 * frames, or the parts behind the headers.
 *
 *     dm = rte_pmd_mlx5dv_dm_alloc(port_id, 4096, 0);
 *     rte_pmd_mlx5dv_dm_write(dm, 0, frame, len);
 *     mbuf = rte_pktmbuf_alloc(pool);
 *     rte_pmd_mlx5dv_dm_attach(dm, 0, len, mbuf);     as often as wanted, for all Tx queues
 *     rte_eth_tx_burst(port_id, queue, &mbuf, 1);
 *     rte_pmd_mlx5dv_dm_free(dm);                     when no mbuf refers to it any more
 *
 * The allocation belongs to the port. rte_eth_dev_close(), rte_eth_dev_reset() and the removal of
 * the port free the memory even if mbufs refer to it: the application may still free these mbufs,
 * but must not read or send them. When they are freed, the application calls
 * rte_pmd_mlx5dv_dm_free(), the only call that is still allowed for the allocation.
 *
 * A port does not send packets in the memory of another port: it frees them and counts them as
 * errors, as it does with all packets in unknown memory.
 *
 * Secondary processes may attach mbufs to an allocation of the primary process, and send and free
 * such mbufs, whichever process attached them. All other calls are for the primary process, and
 * only the primary process has the memory mapped.
 *
 * Link with librte_net_mlx5dv.so; the driver is then there without the EAL's -d.
 */
#ifndef RTE_PMD_MLX5DV_H
#define RTE_PMD_MLX5DV_H

#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rte_mbuf;

/** An allocation of device memory. */
struct rte_pmd_mlx5dv_dm;

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Get the largest possible size of an allocation. All programs that use the device share its
 * memory, so less may be free.
 *
 * @param port_id
 *   A port of this driver.
 * @param[out] size
 *   Bytes, 0 when the device has none.
 * @return
 *   0, -ENODEV: no port of this driver, -E_RTE_SECONDARY: not in a secondary process.
 */
__rte_experimental int rte_pmd_mlx5dv_dm_max(uint16_t port_id, size_t *size);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Allocate memory of a port's device, whose contents are undefined. Thread-safe.
 *
 * @param port_id
 *   A port of this driver, started or not.
 * @param size
 *   Bytes; rounded up to a multiple of 64.
 * @param align
 *   Of the start, in bytes: a power of two up to 4096; 0: any.
 * @return
 *   The allocation, which is the caller's until rte_pmd_mlx5dv_dm_free(), or NULL with rte_errno:
 *   - ENODEV: no port of this driver
 *   - ENOTSUP: the device has no such memory
 *   - EINVAL: a size of 0 or beyond rte_pmd_mlx5dv_dm_max(), or an unsupported alignment
 *   - ENOMEM: not enough memory is free
 *   - E_RTE_SECONDARY: not in a secondary process
 *   - another errno, of verbs
 */
__rte_experimental struct rte_pmd_mlx5dv_dm *rte_pmd_mlx5dv_dm_alloc(
	uint16_t port_id, size_t size, size_t align);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Free device memory, also that of a closed port. No other thread may use it at that time.
 *
 * @param dm
 *   The allocation, or NULL.
 * @return
 *   0, -EBUSY: mbufs still refer to it (a queue frees sent mbufs as it sends more, and all when it
 *   is stopped), -E_RTE_SECONDARY: not in a secondary process.
 */
__rte_experimental int rte_pmd_mlx5dv_dm_free(struct rte_pmd_mlx5dv_dm *dm);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Copy into device memory. Packets that are sent after the return have the new bytes; a packet that
 * is on its way may have old and new ones. Thread-safe for different words of 4 bytes.
 *
 * @param dm
 *   The allocation.
 * @param offset
 *   Destination, from the start of the allocation: a multiple of 4, as the CPU accesses device
 *   memory in whole words.
 * @param from
 *   The bytes.
 * @param len
 *   Number of bytes.
 * @return
 *   0, -EINVAL: no multiple of 4, or beyond the end, -ENODEV: the port was closed,
 *   -E_RTE_SECONDARY: not in a secondary process.
 */
__rte_experimental int rte_pmd_mlx5dv_dm_write(
	struct rte_pmd_mlx5dv_dm *dm, size_t offset, const void *from, size_t len);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Copy from device memory: slow, as each word is a round trip over PCI. Thread-safe.
 *
 * @param dm
 *   The allocation.
 * @param offset
 *   Source, from the start of the allocation: a multiple of 4.
 * @param[out] to
 *   Room for the bytes.
 * @param len
 *   Number of bytes.
 * @return
 *   0, -EINVAL: no multiple of 4, or beyond the end, -ENODEV: the port was closed,
 *   -E_RTE_SECONDARY: not in a secondary process.
 */
__rte_experimental int rte_pmd_mlx5dv_dm_read(
	const struct rte_pmd_mlx5dv_dm *dm, size_t offset, void *to, size_t len);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Make an mbuf whose data is in device memory, as by rte_pktmbuf_attach_extbuf(). The application
 * can send it, chain it behind an mbuf with headers, clone it, and free it, which gives the mbuf
 * back its own buffer. No other access to the data is allowed: there is no head- or tailroom, and
 * rte_pktmbuf_prepend() and the like have no place to write to. Thread-safe, also for the same
 * memory in many mbufs.
 *
 * Such mbufs are not for a queue with RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE. The device fills in
 * checksums and tags on the wire only, and leaves its memory as it is; so does
 * rte_eth_tx_prepare(). The headers of a packet for TSO must be elsewhere, as the CPU copies them
 * (otherwise rte_eth_tx_prepare() returns ENOTSUP).
 *
 * @param dm
 *   The allocation.
 * @param offset
 *   Start of the data; any.
 * @param len
 *   Bytes of data.
 * @param mbuf
 *   An mbuf as rte_pktmbuf_alloc() gives it, of a pool without pinned external buffers.
 * @return
 *   0, -EINVAL: beyond the end, or an mbuf that is attached to something, -EAGAIN: 65,534 mbufs
 *   refer to the memory already, -ENODEV: the port was closed.
 */
__rte_experimental int rte_pmd_mlx5dv_dm_attach(
	struct rte_pmd_mlx5dv_dm *dm, size_t offset, uint16_t len, struct rte_mbuf *mbuf);

/**
 * @warning
 * @b EXPERIMENTAL: this API may change without prior notice.
 *
 * Convert a timestamp to the time of day: a timestamp of a received packet
 * (RTE_ETH_RX_OFFLOAD_TIMESTAMP) or of rte_eth_read_clock(). Linux adjusts the relation of the
 * device's clock to the time of day all the time, so convert a timestamp within seconds.
 * Timestamps of a device that has a real-time clock alone are returned as they are.
 * Thread-safe; no system call.
 *
 * @param port_id
 *   A port of this driver.
 * @param timestamp
 *   Ticks of the device's clock.
 * @param[out] ns
 *   Nanoseconds since 1970.
 * @return
 *   0, -ENODEV: no port of this driver, -ENOTSUP: Linux does not report the time for this device,
 *   -E_RTE_SECONDARY: not in a secondary process.
 */
__rte_experimental int rte_pmd_mlx5dv_timestamp_to_ns(
	uint16_t port_id, uint64_t timestamp, uint64_t *ns);

#ifdef __cplusplus
}
#endif

#endif /* RTE_PMD_MLX5DV_H */
