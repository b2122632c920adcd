/* Chunks of a key, of at most 16 bits each, and numbers by a chunk's value: classes of bit_vector.h, buckets of scan.h. */
#ifndef BACUS_TABLE_CHUNK_H
#define BACUS_TABLE_CHUNK_H

#include <stdint.h>
#include <string.h>

#define CHUNK_BITS 16u
#define CHUNK_PAGE 256u		/* values */

/* Bits of a key, which lie within four bytes of it. */
struct chunk {
	uint32_t offset;	/* of the bytes */
	uint16_t shift;
	uint16_t mask;
};

/* Values that differ in their lower eight bits are a page; where the lower bits tell nothing apart, as below most prefixes, the page is one number. So what
 * most keys touch stays in the first-level cache. */
struct chunk_index {
	uint32_t pages[1u << CHUNK_BITS >> 8];	/* the first number's place, and below it a mask of eight bits */
	uint16_t numbers[];
};

/* The chunk's value in a key. */
static inline uint32_t
chunk_value(const struct chunk *chunk, const uint64_t *key)
{
	uint32_t bytes;

	memcpy(&bytes, (const uint8_t *)key + chunk->offset, sizeof(bytes));
	return bytes >> chunk->shift & chunk->mask;
}

static inline uint32_t
chunk_number(const struct chunk_index *index, uint32_t value)
{
	const uint32_t page = index->pages[value >> 8];

	return index->numbers[(page >> 8) + (page & value & 0xff)];
}

/* For writers: where a key's chunks are. */
struct layout_request;

struct chunk_cut {
	uint32_t position;
	uint32_t width;
	uint32_t range;		/* 1: a range field, else bits of which a rule says which ones matter */
};

/* All of a key's chunks: range fields whole, wide fields from their upper ends on, narrow ones that lie side by side together; where these would be too many,
 * as few as can be. Their number; above `most`, so many there would be. A range field that is wider than a chunk is none. */
uint32_t chunks_cut(const struct layout_request *request, struct chunk_cut *cuts, uint32_t most);

struct chunk chunk_at(uint32_t position, uint32_t width, uint32_t limbs);

#endif
