/* The writer's side of tuple_space.h: tuple_space.c knows rules and runs of pairs, tuple_space_choose.c which tuples there should be. */
#ifndef BACUS_TABLE_TUPLE_SPACE_WRITER_H
#define BACUS_TABLE_TUPLE_SPACE_WRITER_H

#include "table/ruled.h"
#include "table/tuple_space.h"

#define TUPLE_SPACE_PIECES_MOST 80u
#define TUPLE_SPACE_SAMPLE 512u		/* rules that tuples are chosen by */
#define TUPLE_SPACE_PROBES 128u		/* packets for which they are tried */

/* Bits of a rule that a tuple asks for together: eight of a field, from its upper end, or a range. */
struct tuple_space_piece {
	uint64_t mask[TUPLE_SPACE_LIMBS_MOST];
};

/* A rule as it is compared, and the bits that it fixes: ternary bits, and lanes of ranges of one value.
 *
 *    value, mask   ternary lanes: bits and which of them matter; range lanes: low end and high - low
 *    fixed         ones where the rule leaves nothing open: a tuple's mask has to lie within
 */
struct tuple_space_row {
	uint64_t value[TUPLE_SPACE_LIMBS_MOST];
	uint64_t mask[TUPLE_SPACE_LIMBS_MOST];
	uint64_t fixed[TUPLE_SPACE_LIMBS_MOST];
};

/* Room to try tuples in. */
struct tuple_space_trial {
	struct tuple_space_row rows[TUPLE_SPACE_SAMPLE];
	uint64_t probes[TUPLE_SPACE_PROBES][TUPLE_SPACE_LIMBS_MOST];
	uint64_t hashes[4 * TUPLE_SPACE_SAMPLE];	/* open addressing; 0: free */
	uint32_t sizes[4 * TUPLE_SPACE_SAMPLE];
	/* A rule is in one tuple: those chosen later are tried for what is left. */
	uint8_t taken[TUPLE_SPACE_SAMPLE];	/* rows that have a tuple */
	uint32_t row_count;
	uint32_t scale;				/* rules that a row represents */
	uint64_t random;
};

/* What is known of a rule beside its match. */
struct tuple_space_note {
	uint32_t label;
	uint32_t tuple;
};

struct tuple_space_writer {
	struct ruled ruled;
	struct tuple_space *space;
	struct ranking ranking;
	struct tuple_space_piece pieces[TUPLE_SPACE_PIECES_MOST];
	uint32_t piece_count;
	uint64_t ranges[TUPLE_SPACE_LIMBS_MOST];	/* bits of range fields in the key */
	struct tuple_space_trial *trial;
	/* The tuples that were chosen, those that ask for most first. */
	struct tuple_space_piece chosen[TUPLE_SPACE_TUPLES_MOST];
	uint32_t chosen_count;
	uint32_t chosen_at;		/* rules, then */
	uint32_t step;			/* between labels at the end */
	struct tuple_space_note *notes;	/* by a rule's number */
	uint32_t noted;
};

void tuple_space_row(const struct tuple_space_writer *writer, uint32_t number, struct tuple_space_row *row);

static inline int
tuple_space_fixes(const uint64_t *fixed, const uint64_t *mask, uint32_t limbs)
{
	uint64_t lacks = 0;

	for (uint32_t limb = 0; limb < limbs; limb++)
		lacks |= mask[limb] & ~fixed[limb];
	return lacks == 0;
}

/* Fills `chosen`: the last tuple asks for nothing. */
void tuple_space_choose(struct tuple_space_writer *writer);

#endif
