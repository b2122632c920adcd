/* The writer's side of the words of exact48.h and exact60.h: the interface between exact48.c, which knows
 * tables, and exact48_words.c, which knows the array.
 *
 * Two tables with keys of one kind may be joint, the primary and the secondary: with mostly common keys, they
 * need half the memory. Each has a part of a word's 16 bits for its record numbers. A word exists as long as
 * one of the parts has a number.
 *
 *    word   | secondary's number | primary's number | key |     or the parts in the other order
 *            \______ 16 bits together ______/  48 bits
 *
 * A table grows, shrinks or removes words as if it had the array alone; it only never touches the other part. */
#ifndef BACUS_TABLE_EXACT48_WRITER_H
#define BACUS_TABLE_EXACT48_WRITER_H

#include "table/exact60.h"
#include "table/layout.h"

#define EXACT48_PARTS_MOST 2u

/* A table's part of the array. */
struct exact48_part {
	struct exact48 *exact;	/* where its readers find the array */
	uint64_t size;	/* entries at most; 0: no limit */
	uint32_t shift;	/* the first of its bits in a word's 16 */
	uint32_t bits;	/* their number; all 16 for an array with one table */
};

/* A mask of its bits. */
static inline uint32_t
exact48_part_mask(const struct exact48_part *part)
{
	return (((uint32_t)1 << part->bits) - 1) << part->shift;
}

struct exact48_words {
	struct memory *memory;	/* the primary's, since the secondary may be destroyed first */
	struct records *records;	/* the primary's. A table with own records is never joint */
	const struct exact48_part *parts[EXACT48_PARTS_MOST];	/* the primary's; the secondary's, or NULL */
	/* The writer's view; `exact->array` of each part is what its readers see. */
	struct exact48_array *array;
	uint32_t *left;	/* by bucket: keys that were displaced to their second bucket */
	uint64_t count;
	uint32_t is_hashed;	/* words are those of exact60.h */
};

/* The position of a word; `bucket` is NULL if there is none. Positions are numbered bucket by bucket; the number
 * is an entry's note, and `writer_next`'s cursor. */
struct exact48_place {
	struct exact48_bucket *bucket;
	uint32_t slot;
};

static inline struct exact48_place
exact48_place(const struct exact48_words *words, uint64_t number)
{
	return (struct exact48_place){ .bucket = &words->array->buckets[number / EXACT48_SLOTS], .slot = number % EXACT48_SLOTS };
}

/* Positions are numbered below this. */
static inline uint64_t
exact48_places(const struct exact48_words *words)
{
	return words->array->bucket_count * EXACT48_SLOTS;
}

/* The record numbers of a word; 0: empty. */
static inline uint32_t
exact48_numbers(const struct exact48_bucket *bucket, uint32_t slot)
{
	return (uint32_t)(bucket->slots[slot] >> EXACT48_KEY_BITS);
}

/* An array for one table. */
enum table_status exact48_words_create(struct exact48_words *words, const struct layout_request *request, const struct exact48_part *primary,
	uint32_t is_hashed);
void exact48_words_destroy(struct exact48_words *words);

/* Adds the secondary table; its part of all words is 0. */
void exact48_words_join(struct exact48_words *words, const struct exact48_part *secondary);
/* Removes it again; its part of all words must be 0. */
void exact48_words_leave(struct exact48_words *words);

struct exact48_place exact48_words_find(const struct exact48_words *words, uint64_t key);
uint64_t exact48_words_key(const struct exact48_words *words, struct exact48_place place);

/* Adds a word for a new key. */
enum table_status exact48_words_add(struct exact48_words *words, uint64_t key, uint32_t numbers);
/* Changes the numbers of a word by one store; removes it if there are none. */
void exact48_words_change(struct exact48_words *words, struct exact48_place place, uint32_t numbers);

/* Makes room for so many words, or as little as the words need. */
enum table_status exact48_words_reserve(struct exact48_words *words, uint64_t count);
void exact48_words_compact(struct exact48_words *words);

#endif
