/* Chooses the tuples of a table's rules.
 *
 * Tuples are taken one after the other: always the one that costs packets least for each rule that it takes, of those that one gets by adding piece
 * to piece. A tuple costs its head, and the pairs that packets find, which packets under the rules are tried for: a tuple in which most find
 * something is expensive. At last there is one that matches all keys, for the rules that would have cost more in any other. Costs are instructions of
 * an AVX2 processor. */
#include <string.h>

#include "table/tuple_space_writer.h"

#define CHOOSE_HEAD 15.0	/* a packet's head */
#define CHOOSE_PAIR 27.0	/* a pair that a head leads to */
#define CHOOSE_REST 8.0	/* a rule in the tuple of nothing */

/* splitmix64, from a fixed seed: the same rules always give the same tuples. */
static uint64_t
choose_random(struct tuple_space_trial *trial)
{
	uint64_t x = trial->random += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* A packet under a rule: bits that the rule leaves open are drawn. */
static void
choose_probe(struct tuple_space_trial *trial, const struct tuple_space *space, const struct tuple_space_row *row, uint64_t *probe)
{
	for (uint32_t limb = 0; limb < 2 * space->units; limb++) {
		const uint64_t mask = row->mask[limb] & space->ternary[limb];

		probe[limb] = (row->value[limb] & mask) | (choose_random(trial) & space->ternary[limb] & ~mask);
	}
	for (uint32_t i = 0; i < space->range_count; i++) {
		const uint32_t limb = space->ranges[i] / 4, shift = space->ranges[i] % 4 * 16;
		const uint64_t width = (row->mask[limb] >> shift & 0xffff) + 1, low = row->value[limb] >> shift & 0xffff;

		probe[limb] |= (low + choose_random(trial) % width) << shift;
	}
}

/* Rules at equal distances of the ranking; packets under random ones of them, as if each rule had equal traffic. */
static void
choose_sample(struct tuple_space_writer *writer)
{
	struct tuple_space_trial *trial = writer->trial;
	const uint32_t count = writer->ranking.count;

	trial->row_count = count < TUPLE_SPACE_SAMPLE ? count : TUPLE_SPACE_SAMPLE;
	trial->scale = count / TUPLE_SPACE_SAMPLE + 1;
	trial->random = 1;
	memset(trial->taken, 0, sizeof(trial->taken));
	for (uint32_t i = 0; i < trial->row_count; i++)
		tuple_space_row(writer, writer->ranking.numbers[(uint64_t)i * count / trial->row_count], &trial->rows[i]);
	for (uint32_t i = 0; i < TUPLE_SPACE_PROBES; i++)
		choose_probe(trial, writer->space, &trial->rows[choose_random(trial) % trial->row_count], trial->probes[i]);
}

/* Where a key's bucket is counted. Hashes identify masked keys: two of them in one slot would only make a cost
 * a little wrong. */
static uint32_t
choose_slot(const struct tuple_space_trial *trial, const uint64_t *key, const uint64_t *mask, uint32_t limbs, uint64_t *hash)
{
	uint32_t slot;

	*hash = 1;
	for (uint32_t limb = 0; limb < limbs; limb++) {
		*hash = (*hash ^ (key[limb] & mask[limb])) * 0x9e3779b97f4a7c15ull;
		*hash ^= *hash >> 32;
	}
	*hash |= 1;
	slot = (uint32_t)(*hash >> 20) % (4 * TUPLE_SPACE_SAMPLE);
	while (trial->hashes[slot] != 0 && trial->hashes[slot] != *hash)
		slot = (slot + 1) % (4 * TUPLE_SPACE_SAMPLE);
	return slot;
}

/* What a tuple costs a packet for each rule that it takes from the tuple of nothing; at least what a rule costs there if it takes none. */
static double
choose_cost(struct tuple_space_trial *trial, const uint64_t *mask, uint32_t limbs)
{
	uint32_t taken = 0;
	uint64_t pairs = 0, hash;

	memset(trial->hashes, 0, sizeof(trial->hashes));
	for (uint32_t i = 0; i < trial->row_count; i++) {
		uint32_t slot;

		if (trial->taken[i] || !tuple_space_fixes(trial->rows[i].fixed, mask, limbs))
			continue;
		slot = choose_slot(trial, trial->rows[i].value, mask, limbs, &hash);
		trial->sizes[slot] = trial->hashes[slot] == 0 ? 1 : trial->sizes[slot] + 1;
		trial->hashes[slot] = hash;
		taken++;
	}
	if (taken == 0)
		return CHOOSE_REST;
	for (uint32_t i = 0; i < TUPLE_SPACE_PROBES; i++) {
		const uint32_t slot = choose_slot(trial, trial->probes[i], mask, limbs, &hash);

		if (trial->hashes[slot] != 0)
			/* The probe's own rule is one; the others of the sample represent `scale` rules each.
			 * Two make a pair. */
			pairs += ((uint64_t)(trial->sizes[slot] - 1) * trial->scale + 2) / 2;
	}
	return (CHOOSE_HEAD + CHOOSE_PAIR * (double)pairs / TUPLE_SPACE_PROBES) / ((double)taken * trial->scale);
}

/* Adds the piece with which the tuple costs least; the new cost. All pieces are tried: at most 80 times the
 * sample, for each step. */
static double
choose_extend(struct tuple_space_writer *writer, struct tuple_space_piece *tuple, double cost)
{
	const uint32_t limbs = 2 * writer->space->units;
	struct tuple_space_piece best = *tuple;

	for (uint32_t i = 0; i < writer->piece_count; i++) {
		struct tuple_space_piece longer = *tuple;
		double with;

		for (uint32_t limb = 0; limb < limbs; limb++)
			longer.mask[limb] |= writer->pieces[i].mask[limb];
		with = choose_cost(writer->trial, longer.mask, limbs);
		best = with < cost ? longer : best;
		cost = with < cost ? with : cost;
	}
	*tuple = best;
	return cost;
}

static uint32_t
choose_bits(const struct tuple_space_piece *tuple, uint32_t limbs)
{
	uint32_t bits = 0;

	for (uint32_t limb = 0; limb < limbs; limb++)
		bits += (uint32_t)__builtin_popcountll(tuple->mask[limb]);
	return bits;
}

/* Greedy, and bounded: each step takes rules from the sample, or ends. Tuples that ask for more bits come first,
 * since their rules mostly rank first and their heads are mostly empty. */
void
tuple_space_choose(struct tuple_space_writer *writer)
{
	const uint32_t limbs = 2 * writer->space->units;
	struct tuple_space_trial *trial = writer->trial;

	writer->chosen_count = 0;
	writer->chosen_at = writer->ranking.count;
	if (writer->ranking.count != 0)
		choose_sample(writer);
	while (writer->ranking.count != 0 && writer->chosen_count + 1 < TUPLE_SPACE_TUPLES_MOST) {
		struct tuple_space_piece tuple = { .mask = { 0 } };
		double cost = CHOOSE_REST, before;
		uint32_t at = writer->chosen_count++;

		do {
			before = cost;
			cost = choose_extend(writer, &tuple, cost);
		} while (cost < before);
		/* No piece was cheaper than comparing all that is left: these go into the tuple of nothing. */
		if (choose_bits(&tuple, limbs) == 0) {
			writer->chosen_count--;
			break;
		}
		for (uint32_t i = 0; i < trial->row_count; i++)
			trial->taken[i] |= (uint8_t)tuple_space_fixes(trial->rows[i].fixed, tuple.mask, limbs);
		for (; at != 0 && choose_bits(&writer->chosen[at - 1], limbs) < choose_bits(&tuple, limbs); at--)
			writer->chosen[at] = writer->chosen[at - 1];
		writer->chosen[at] = tuple;
	}
	writer->chosen[writer->chosen_count++] = (struct tuple_space_piece){ .mask = { 0 } };
}
