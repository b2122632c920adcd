/* The writer's side of the words of exact48.h and exact60.h: what exact48.c, which knows tables, asks of exact48_words.c, which knows the array.
 *
 * Two tables whose keys are of the same kind may share one array, its owner and a guest: where most keys are in both, that is half the memory. Then each has a
 * part of a word's 16 bits for the numbers of its records, and a word is there as long as either part holds a number. */
#ifndef BACUS_TABLE_EXACT48_WRITER_H
#define BACUS_TABLE_EXACT48_WRITER_H

#include "table/exact60.h"
#include "table/layout.h"

#define EXACT48_PARTS_MOST 2u

/* What a table has of the array. */
struct exact48_part {
	struct exact48 *exact;	/* where its readers find the array */
	uint64_t size;		/* entries at most, 0: no limit */
	uint32_t shift;		/* of a word's 16 bits, where its record's number begins */
	uint32_t bits;		/* and so many; all 16 where the array is the table's alone */
};

/* Its bits, ones. */
static inline uint32_t
exact48_part_mask(const struct exact48_part *part)
{
	return (((uint32_t)1 << part->bits) - 1) << part->shift;
}

struct exact48_words {
	struct memory *memory;		/* the owner's, for the guest may go first */
	struct records *records;	/* the owner's. A table with records of its own is alone */
	const struct exact48_part *parts[EXACT48_PARTS_MOST];	/* the owner's; the guest's, or NULL */
	struct exact48_array *array;
	uint32_t *left;			/* for each bucket, how many keys had to leave it for their second one */
	uint64_t count;
	uint32_t is_hashed;		/* words are those of exact60.h */
};

/* Where a word is; without bucket: nowhere. */
struct exact48_place {
	struct exact48_bucket *bucket;
	uint32_t slot;
};

static inline struct exact48_place
exact48_place(const struct exact48_words *words, uint64_t number)
{
	return (struct exact48_place){ .bucket = &words->array->buckets[number / EXACT48_SLOTS], .slot = number % EXACT48_SLOTS };
}

/* Places are numbered below this. */
static inline uint64_t
exact48_places(const struct exact48_words *words)
{
	return words->array->bucket_count * EXACT48_SLOTS;
}

/* What the tables have in a word, 0: nothing stands there. */
static inline uint32_t
exact48_numbers(const struct exact48_bucket *bucket, uint32_t slot)
{
	return (uint32_t)(bucket->slots[slot] >> EXACT48_KEY_BITS);
}

/* An array for one table so far. */
enum table_status exact48_words_create(struct exact48_words *words, const struct layout_request *request, const struct exact48_part *owner,
	uint32_t is_hashed);
void exact48_words_destroy(struct exact48_words *words);

/* A guest comes, whose part of all words is 0. */
void exact48_words_join(struct exact48_words *words, const struct exact48_part *guest);
/* It goes: its part of all words is 0 again. */
void exact48_words_leave(struct exact48_words *words);

struct exact48_place exact48_words_find(const struct exact48_words *words, uint64_t key);
uint64_t exact48_words_key(const struct exact48_words *words, struct exact48_place place);

/* A word for a key that has none. */
enum table_status exact48_words_add(struct exact48_words *words, uint64_t key, uint32_t numbers);
/* Gives a word other numbers by one store; without any, the word goes. */
void exact48_words_change(struct exact48_words *words, struct exact48_place place, uint32_t numbers);

/* Makes room for so many words, or as little as the words need. */
enum table_status exact48_words_reserve(struct exact48_words *words, uint64_t count);
void exact48_words_compact(struct exact48_words *words);

#endif
