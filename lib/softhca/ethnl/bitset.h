/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Bits as attributes, with names or as words: net/ethtool/bitset.c. */
#ifndef SHCA_ETHNL_BITSET_H
#define SHCA_ETHNL_BITSET_H

#include <linux/ethtool.h>
#include <stdbool.h>
#include <stdint.h>

struct nlattr;
struct nlmsghdr;
struct shca_ethnl_call;

#define SHCA_BITSET_WORDS 8 /**< of 32 bits: as many as there may be */

/** All that there may be, and how many they are. */
struct shca_bitset {
	uint32_t nb;
	/** ETH_GSTRING_LEN bytes each; the last may be no zero. */
	const uint8_t *names;
};

/**
 * Put bits into a message.
 * @param mask of those that are meant; NULL: it is a list
 * @param is_compact as words, not one by one with their names
 */
void shca_bitset_put(struct nlmsghdr *message, uint16_t type, const struct shca_bitset *set,
	const uint32_t *value, const uint32_t *mask, bool is_compact);
/**
 * Read what a request has.
 * @param[out] value SHCA_BITSET_WORDS words
 * @param[out] mask the same: which bits are meant; all of them if it is a list
 * @return 0 or a negative errno, refused.
 */
int shca_bitset_read(struct shca_ethnl_call *call, const struct nlattr *attr,
	const struct shca_bitset *set, uint32_t *value, uint32_t *mask);

#endif /* SHCA_ETHNL_BITSET_H */
