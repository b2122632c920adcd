/* Ternary match by bit vectors, for some fifty to four thousand rules: each chunk of the key, of at most 16 bits, selects a class, a class is the set of
 * rules which that chunk of a key allows, and the first rule in the intersection of all sets is the answer. The cost depends on the number of chunks
 * and, little, on that of rules; not on which rules they are. A range field, of at most 16 bits, is a chunk of its own.
 *
 * The classes of a chunk's values are replaced as a whole, and so are the sets, whose bits are the rules in their order: what is visible between two stores
 * is always the table with the last change or without.
 *
 *    key       chunk 0      chunk 1      ..
 *    index     class 5      class 2            by value, two-level (chunk.h)
 *    set       00110100     01100100           one bit per rule, in order of rank; sets[chunk] + class * words
 *    AND       00100100  ─▶ the lowest bit is the rule ─▶ records[place]
 *
 * Writer and readers agree on one order: the writer publishes sets, waits a grace period, then classes; a reader loads sets (`array`), then classes. So a
 * reader with new classes has new sets, and a class always has a set. */
#ifndef BACUS_TABLE_BIT_VECTOR_H
#define BACUS_TABLE_BIT_VECTOR_H

#include "table/bit_vector_group.h"
#include "table/bit_vector_sets.h"

static inline uint64_t
bit_vector_hash(const struct bit_vector *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)limbs;
	return key[0];
}

static inline const void *
bit_vector_address(const struct bit_vector *table, uint64_t hash)
{
	(void)hash;
	return __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
}

/* The record of the first rule in `span` words of all sets, and whether there is one. */
static inline __attribute__((always_inline)) uint32_t
bit_vector_look_in(const struct bit_vector_array *array, const uint64_t *const *sets, uint64_t at, uint32_t span, uint32_t chunks, uint32_t *found)
{
	const struct bit_vector_meeting meeting = bit_vector_meet(sets, at, span, chunks);

	if (meeting.any != 0)
		*found = __atomic_load_n(&array->records[bit_vector_place(meeting, at, span)], __ATOMIC_ACQUIRE);
	return meeting.any;
}

/* The record of the first rule in all sets. Branch-free, since the word that has it is unpredictable; sixteen
 * words are a thousand rules. Rules in a multiple of sixteen words are searched with a branch per stride; a last
 * line without one. Sets are whole lines or a quad, so no other remainder exists. */
static inline __attribute__((always_inline)) uint32_t
bit_vector_first_rule(const struct bit_vector_array *array, const uint64_t *const *sets, uint32_t chunks)
{
	uint32_t found = 0;
	uint64_t at = 0;

	if (array->words == BIT_VECTOR_QUAD)
		bit_vector_look_in(array, sets, 0, BIT_VECTOR_QUAD, chunks, &found);
	else
		for (; at + BIT_VECTOR_STRIDE <= array->words; at += BIT_VECTOR_STRIDE)
			if (bit_vector_look_in(array, sets, at, BIT_VECTOR_STRIDE, chunks, &found))
				return found;
	if (at + BIT_VECTOR_LINE <= array->words)
		bit_vector_look_in(array, sets, at, BIT_VECTOR_LINE, chunks, &found);
	return found;
}

/* Inlined with a literal count, so that the loop over the chunks is gone. */
static inline __attribute__((always_inline)) uint32_t
bit_vector_all(const struct bit_vector *table, const struct bit_vector_array *array, const uint64_t *key, uint32_t chunks)
{
	const uint64_t *sets[BIT_VECTOR_CHUNKS_MOST];

	sets[0] = array->sets[0];
	for (uint32_t i = 0; i < chunks; i++) {
		const struct bit_vector_chunk *chunk = &table->chunks[i];

		/* Acquire: a class that a new index gives is in the sets, which were published before it. */
		sets[i] = array->sets[i] + chunk_number(__atomic_load_n(&chunk->index, __ATOMIC_ACQUIRE), chunk_value(&chunk->bits, key)) * array->words;
	}
	return bit_vector_first_rule(array, sets, chunks);
}

static inline uint32_t
bit_vector_find(const struct bit_vector *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const struct bit_vector_array *array = address;

	(void)hash;
	(void)limbs;
	switch (table->chunk_count) {
	case 2:
		return bit_vector_all(table, array, key, 2);
	case 3:
		return bit_vector_all(table, array, key, 3);
	case 4:
		return bit_vector_all(table, array, key, 4);
	case 5:
		return bit_vector_all(table, array, key, 5);
	case 6:
		return bit_vector_all(table, array, key, 6);
	case 7:
		return bit_vector_all(table, array, key, 7);
	default:
		return bit_vector_all(table, array, key, table->chunk_count);
	}
}

static inline __attribute__((always_inline)) void
bit_vector_find_group(const struct bit_vector *table, const struct table_group *group)
{
	switch (table->chunk_count) {
	case 4:
		bit_vector_chunks(table, group, 4);
		break;
	case 7:
		bit_vector_chunks(table, group, 7);
		break;
	default:
		bit_vector_chunks(table, group, table->chunk_count);
	}
}

#endif
