/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Times of an RNR NAK (IBTA 9.7.5.2.8, table 46), and of an ACK timeout (9.9.2.1.1). */
#ifndef SHCA_TRANSPORT_ENGINE_RNR_H
#define SHCA_TRANSPORT_ENGINE_RNR_H

#include <stdint.h>

/** @param timer of 5 bits @return how long the sender waits */
static inline uint64_t
shca_rnr_ns(uint8_t timer)
{
	/* In units of 10 us. */
	static const uint32_t units[32] = { 65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96,
		128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
		16384, 24576, 32768, 49152 };

	return units[timer & 31] * UINT64_C(10000);
}

/** @param timeout of 5 bits @return 4.096 us * 2^timeout; 0: none */
static inline uint64_t
shca_timeout_ns(uint8_t timeout)
{
	return timeout == 0 ? 0 : UINT64_C(4096) << (timeout & 31);
}

#endif /* SHCA_TRANSPORT_ENGINE_RNR_H */
