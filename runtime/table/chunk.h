/* Chunks of a key, of at most 16 bits each, and numbers by a chunk's value: classes of bit_vector.h, buckets of scan.h. */
#ifndef BACUS_TABLE_CHUNK_H
#define BACUS_TABLE_CHUNK_H

#include <stdint.h>
#include <string.h>

#define CHUNK_BITS 16u
#define CHUNK_PAGE 256u		/* values */
#define CHUNK_PAGES ((1u << CHUNK_BITS) / CHUNK_PAGE)

/* Bits of a key, which lie within four bytes of it. */
struct chunk {
	uint32_t offset;	/* of the bytes */
	uint16_t shift;
	uint16_t mask;
};

/* Values that differ in their lower eight bits are a page; where the lower bits distinguish nothing, as below most prefixes, the page is one number. So what
 * most keys touch stays in L1. Pages with all of their numbers come first: then a byte for each page is its position, and registers have
 * room for these bytes. A lookup of one value reads `firsts` and `masks` instead, in fewer steps.
 *
 *    value  | page 8 bits | 8 bits |
 *    number = numbers[firsts[page] + (masks[page] & value)]
 *    numbers  | page a: 256 | page b: 256 | .. whole pages .. | c | d | e | .. one number each ..
 *    pages[page] is the position among all: below `whole`, times 256; else behind the whole ones
 *
 * `masks` is 255 or 0: the same load for both kinds of pages, without a branch. */
struct chunk_index {
	uint8_t pages[CHUNK_PAGES];	/* in the order in which they are stored */
	uint16_t firsts[CHUNK_PAGES];	/* where a page's numbers begin */
	uint8_t masks[CHUNK_PAGES];	/* bits of a value that distinguish its page's numbers */
	uint32_t whole;			/* pages with all of their numbers */
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
	const uint32_t page = value / CHUNK_PAGE;

	return index->numbers[index->firsts[page] + (index->masks[page] & value)];
}

/* For writers: how many bytes an index takes that has so many whole pages and other ones, and where each page's numbers are. `is_whole` has a byte for each
 * page; numbers of the others follow in the same order, one for each. */
uint64_t chunk_index_bytes(uint32_t whole, uint32_t other);
void chunk_index_divide(struct chunk_index *index, const uint8_t *is_whole, uint32_t page_count);

/* The same: where a key's chunks are. */
struct layout_request;

struct chunk_cut {
	uint32_t position;
	uint32_t width;
	uint32_t range;		/* 1: a range field, else bits under a rule's mask */
};

/* All of a key's chunks: range fields whole, wide fields from their upper ends on, narrow ones that lie side by side together; where these would be too many,
 * as few as can be. Their number; above `most`, so many there would be. A range field that is wider than a chunk is none. */
uint32_t chunks_cut(const struct layout_request *request, struct chunk_cut *cuts, uint32_t most);

struct chunk chunk_at(uint32_t position, uint32_t width, uint32_t limbs);

#endif
