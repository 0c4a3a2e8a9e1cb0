/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Bytes of a fuzzer as choices, and memory that is exactly as large as it says, so that reading
 * beyond it is seen. When the bytes are used up every choice is 0.
 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** Blocks of one operation. */
#define FUZZ_INPUT_BLOCKS 256

struct fuzz_input {
	const uint8_t *at, *end;
	void *blocks[FUZZ_INPUT_BLOCKS];
	size_t sizes[FUZZ_INPUT_BLOCKS];
	unsigned int nb_blocks;
};

static inline bool
fuzz_input_left(const struct fuzz_input *input)
{
	return input->at != input->end;
}

static inline uint8_t
fuzz_input_byte(struct fuzz_input *input)
{
	return fuzz_input_left(input) ? *input->at++ : 0;
}

/** @return 0 to @p nb - 1 */
static inline unsigned int
fuzz_input_choose(struct fuzz_input *input, unsigned int nb)
{
	return fuzz_input_byte(input) % nb;
}

static inline uint32_t
fuzz_input_word(struct fuzz_input *input)
{
	uint32_t word = 0;

	for (unsigned int i = 0; i < 4; i++)
		word = word << 8 | fuzz_input_byte(input);
	return word;
}

/** @return zeroed memory that lives until fuzz_input_release(), NULL for 0 bytes or too many
 * blocks. */
static inline void *
fuzz_input_block(struct fuzz_input *input, size_t size)
{
	void *block;

	if (size == 0 || input->nb_blocks == FUZZ_INPUT_BLOCKS)
		return NULL;
	/* Neither calloc(), which is made to fail, nor malloc(), of which compilers make one. */
	if (posix_memalign(&block, sizeof(void *), size) != 0)
		abort();
	memset(block, 0, size);
	input->sizes[input->nb_blocks] = size;
	input->blocks[input->nb_blocks++] = block;
	return block;
}

/** Does it point into one of the blocks? */
static inline bool
fuzz_input_has(const struct fuzz_input *input, const void *pointer)
{
	for (unsigned int i = 0; i < input->nb_blocks; i++)
		if ((uintptr_t)pointer - (uintptr_t)input->blocks[i] < input->sizes[i])
			return true;
	return false;
}

static inline void
fuzz_input_fill(struct fuzz_input *input, void *block, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)block)[i] = fuzz_input_byte(input);
}

static inline void
fuzz_input_release(struct fuzz_input *input)
{
	while (input->nb_blocks != 0)
		free(input->blocks[--input->nb_blocks]);
}

#endif /* FUZZ_INPUT_H */
