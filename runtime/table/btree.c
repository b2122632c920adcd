/* Entries of btree.h as pieces of its trees: each piece belongs to the rule that decides there, and has that rule's record.
 *
 * A new entry cuts the tree where it begins and ends, and takes the pieces between that belong to lesser ones; one that goes leaves them to the next in
 * rank and joins what it had cut. Prefixes longer than a wide key's upper part have a subtree for that part, and in it their pieces; the piece of the
 * upper tree is then one key wide, and its owner the prefix that covers it.
 *
 * Each store of a value is seen by itself, so during a write some intervals have the old owner and others the new one: each packet finds one or the
 * other, both of which are right. Cuts change no value, so they are invisible. */
#include "table/btree.h"

#include <string.h>

#include "table/btree_writer.h"
#include "table/ruled.h"

#define BTREE_SUBTREES_LEAST 16u

/* The tree over the lower 64 bits of one upper part. */
struct btree_sub {
	struct btree_tree tree;
	uint64_t upper;
	uint32_t rules;		/* prefixes that end in it */
};

struct btree_writer {
	struct ruled ruled;
	struct btree *btree;
	struct btree_tree tree;
	uint32_t ranges;		/* 1: a range field, whose rules have priorities; else prefixes */
	uint32_t per_length[BTREE_KEY_BITS + 1];	/* prefixes */
	struct btree_sub *subs;
	struct numbers numbers;		/* of subtrees */
};

/* What happens to the intervals of a span. CLAIM: a new rule takes those of lesser ones. YIELD: a rule that goes
 * leaves its own. CHANGE: another record for its own. */
enum btree_deed { BTREE_CLAIM, BTREE_YIELD, BTREE_CHANGE };

static struct btree_writer *
btree_of(const struct ruled *ruled)
{
	return (struct btree_writer *)(uintptr_t)ruled;
}

/* Bits of the key that the upper tree has; the lower 64 of a wide key are in subtrees. */
static uint32_t
btree_upper_bits(const struct btree_writer *writer)
{
	const uint32_t bits = writer->ruled.layout.key_bits;

	return bits > 64 ? bits - 64 : bits;
}

/* Whether the rule ends in a subtree. */
static int
btree_is_deep(const struct btree_writer *writer, const struct rule *rule)
{
	return writer->btree->wide && rule->priority > btree_upper_bits(writer);
}

static uint64_t
btree_ones(uint32_t bits)
{
	return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* Keys of a rule in its tree: the upper part for short prefixes, the lower one for prefixes that end in a
 * subtree. */
static struct btree_span
btree_span(const struct btree_writer *writer, const struct rule *rule)
{
	const uint64_t *value = ruled_value(rule);
	const uint32_t upper = btree_upper_bits(writer);

	if (writer->ranges)
		return (struct btree_span){ .low = value[0], .high = ruled_high(&writer->ruled, rule)[0] };
	if (btree_is_deep(writer, rule))
		return (struct btree_span){ .low = value[0], .high = value[0] | btree_ones(64 + upper - rule->priority) };
	return (struct btree_span){
		.low = value[writer->ruled.layout.limbs - 1], .high = value[writer->ruled.layout.limbs - 1] | btree_ones(upper - rule->priority),
	};
}

/* Whether rule `number` has precedence over the owner of a piece. */
static int
btree_outranks(const struct btree_writer *writer, uint32_t number, uint32_t owner)
{
	const struct rule *one = rules_at(&writer->ruled.rules, number), *other = rules_at(&writer->ruled.rules, owner);

	if (owner == 0)
		return 1;
	return writer->ranges ? ruled_before(one, other) : one->priority >= other->priority;
}

/* The longest prefix that is shorter than this one and covers it, or 0. Prefixes nest, so it is the heir of all
 * that this one gives up; among ranges each interval may have another. */
static uint32_t
btree_shorter(const struct btree_writer *writer, const struct rule *rule)
{
	const uint32_t bits = writer->ruled.layout.key_bits, limbs = writer->ruled.layout.limbs;

	for (uint32_t length = rule->priority; length-- != 0;) {
		const uint32_t below = bits - length;
		uint64_t value[2];
		uint32_t found;

		if (writer->per_length[length] == 0)
			continue;
		for (uint32_t limb = 0; limb < limbs; limb++)
			value[limb] = rule->limbs[limb] & ~btree_ones(below > 64 * limb ? below - 64 * limb : 0);
		found = rules_find(&writer->ruled.rules, length, value);
		if (found != 0)
			return found;
	}
	return 0;
}

/* The range that decides for a key when rule `without` is gone, or 0. All rules are looked at: a range table has
 * few, and only deletions come here. */
static uint32_t
btree_next_range(const struct btree_writer *writer, uint64_t key, uint32_t without)
{
	const struct rules *rules = &writer->ruled.rules;
	uint32_t best = 0;

	for (uint32_t number = rules_next(rules, 0); number != 0; number = rules_next(rules, number)) {
		const struct btree_span span = btree_span(writer, rules_at(rules, number));

		if (number == without || key < span.low || key > span.high)
			continue;
		if (best == 0 || ruled_before(rules_at(rules, number), rules_at(rules, best)))
			best = number;
	}
	return best;
}

static uint32_t
btree_record(const struct btree_writer *writer, uint32_t number)
{
	return number == 0 ? 0 : rules_at(&writer->ruled.rules, number)->record;
}

static void btree_do(struct btree_writer *writer, struct btree_tree *tree, struct btree_span span, enum btree_deed deed, uint32_t number, uint32_t heir);

/* Changes an interval's owner or its record; of an interval with a subtree, all of that which has the same
 * owner. The piece above a subtree keeps its value, the subtree's number. Its owner changes: what the piece
 * falls back to when the subtree is dropped. */
static void
btree_give(struct btree_writer *writer, const struct btree_piece *piece, enum btree_deed deed, uint32_t number, uint32_t heir)
{
	const int mine = deed == BTREE_CLAIM ? btree_outranks(writer, number, *piece->owner) : *piece->owner == number;
	uint32_t owner = number;

	if (*piece->value & BTREE_SUBTREE) {
		const struct btree_span all = { .low = 0, .high = UINT64_MAX };

		btree_do(writer, &writer->subs[*piece->value & ~BTREE_SUBTREE].tree, all, deed, number, heir);
	}
	if (!mine)
		return;
	if (deed == BTREE_YIELD)
		owner = writer->ranges ? btree_next_range(writer, piece->span.low, number) : heir;
	*piece->owner = owner;
	if ((*piece->value & BTREE_SUBTREE) == 0)
		__atomic_store_n(piece->value, btree_record(writer, owner), __ATOMIC_RELEASE);
}

/* Visits the intervals of a span. `heir`: the new owner of what a prefix gives up. Piece by piece, each from the
 * root: a span has two pieces for a prefix without others inside, and a descent is a few cached lines. */
static void
btree_do(struct btree_writer *writer, struct btree_tree *tree, struct btree_span span, enum btree_deed deed, uint32_t number, uint32_t heir)
{
	struct btree_piece piece = btree_tree_piece(tree, span.low);

	for (;;) {
		btree_give(writer, &piece, deed, number, heir);
		if (piece.span.high >= span.high)
			return;
		piece = btree_tree_piece(tree, piece.span.high + 1);
	}
}

static enum table_status
btree_cut(struct btree_tree *tree, struct btree_span span)
{
	const enum table_status status = btree_tree_cut(tree, span.low);

	return status != TABLE_OK || span.high == tree->most ? status : btree_tree_cut(tree, span.high + 1);
}

/* Whether a range other than `without` begins at a key or ends before it, which matters where the intervals
 * on both sides have another owner. */
static int
btree_is_edge(const struct btree_writer *writer, uint64_t key, uint32_t without)
{
	const struct rules *rules = &writer->ruled.rules;

	for (uint32_t number = rules_next(rules, 0); number != 0; number = rules_next(rules, number)) {
		const struct btree_span span = btree_span(writer, rules_at(rules, number));

		if (number != without && (span.low == key || span.high == key - 1))
			return 1;
	}
	return 0;
}

/* Joins the interval at `key` with the one before if only rule `without` separates them. A range may begin or
 * end between pieces of one owner, and needs its cut when that owner goes. A prefix cannot. */
static void
btree_mend(const struct btree_writer *writer, struct btree_tree *tree, uint64_t key, uint32_t without)
{
	const struct btree_piece right = btree_tree_piece(tree, key);
	struct btree_piece left;

	if (right.span.low != key || key == 0 || (writer->ranges && btree_is_edge(writer, key, without)))
		return;
	left = btree_tree_piece(tree, key - 1);
	if (*left.owner == *right.owner && *left.value == *right.value && (*left.value & BTREE_SUBTREE) == 0)
		btree_tree_join(tree, key);
}

/* Both edges of each range. Those of a range that is about to be removed are included until the next rebuild. */
static int
btree_edge_next(const struct btree_edges *edges, uint64_t *cursor, uint64_t *key)
{
	const struct rules *rules = &((const struct btree_writer *)edges->of)->ruled.rules;
	const uint32_t last = (uint32_t)(*cursor >> 1), is_end = *cursor & 1, number = is_end ? last : rules_next(rules, last);
	struct btree_span span;

	if (number == 0)
		return 0;
	span = btree_span(edges->of, rules_at(rules, number));
	*key = is_end ? span.high + 1 : span.low;
	/* The cursor: a rule's number, and whether its end is next. */
	*cursor = (uint64_t)number << 1 | !is_end;
	return 1;
}

static void
btree_pack_tree(const struct btree_writer *writer, struct btree_tree *tree)
{
	const struct btree_edges edges = { .next = btree_edge_next, .of = writer };

	btree_tree_pack(tree, writer->ranges ? &edges : NULL);
}

/* Where the span of a rule that goes began and ended. */
static void
btree_mend_span(const struct btree_writer *writer, struct btree_tree *tree, struct btree_span span, uint32_t without)
{
	btree_mend(writer, tree, span.low, without);
	if (span.high != tree->most)
		btree_mend(writer, tree, span.high + 1, without);
	if (btree_tree_is_due(tree))
		btree_pack_tree(writer, tree);
}

/* Doubles the array of subtrees. No new one is used before all readers use the new array. */
static enum table_status
btree_subtrees_grow(struct btree_writer *writer)
{
	struct memory *memory = writer->ruled.layout.memory;
	const uint32_t old = writer->numbers.capacity, count = old == 0 ? BTREE_SUBTREES_LEAST : 2 * old;
	struct btree_top **places = memory_allocate(memory, count * sizeof(*places)), **old_places = writer->btree->subtrees;
	struct btree_sub *subs = memory_allocate(memory, count * sizeof(*subs));

	if (places == NULL || subs == NULL || !numbers_grow(&writer->numbers, memory, count)) {
		memory_release(memory, places, count * sizeof(*places));
		memory_release(memory, subs, count * sizeof(*subs));
		return TABLE_NO_MEMORY;
	}
	for (uint32_t i = 0; i < old; i++) {
		places[i] = old_places[i];
		subs[i] = writer->subs[i];
		/* A tree publishes its roots at its place, which has moved. */
		subs[i].tree.place = &places[i];
	}
	memory_release(memory, writer->subs, old * sizeof(*subs));
	writer->subs = subs;
	__atomic_store_n(&writer->btree->subtrees, places, __ATOMIC_RELEASE);
	memory_grace(memory);
	memory_release(memory, old_places, old * sizeof(*places));
	return TABLE_OK;
}

static enum table_status
btree_subtree_take(struct btree_writer *writer, uint32_t *number)
{
	enum table_status status = TABLE_OK;

	while (status == TABLE_OK && (*number = numbers_take(&writer->numbers, writer->ruled.layout.memory)) == 0) {
		if (writer->numbers.retired_count > writer->numbers.capacity / 4)
			memory_grace(writer->ruled.layout.memory);
		else
			status = btree_subtrees_grow(writer);
	}
	return status;
}

/* The subtree for the upper part of a rule, created if there is none. */
static enum table_status
btree_subtree(struct btree_writer *writer, uint64_t upper, struct btree_sub **sub)
{
	struct btree_piece piece = btree_tree_piece(&writer->tree, upper);
	enum table_status status = TABLE_OK;
	uint32_t number = 0;

	*sub = NULL;
	if (*piece.value & BTREE_SUBTREE) {
		*sub = &writer->subs[*piece.value & ~BTREE_SUBTREE];
		return TABLE_OK;
	}
	status = btree_subtree_take(writer, &number);
	if (status != TABLE_OK)
		return status;
	*sub = &writer->subs[number];
	/* The subtree begins as what the piece is: one piece, of the same owner. Packets find the same in both. */
	status = btree_tree_create(&(*sub)->tree, writer->ruled.layout.memory, 64, (struct btree_holding){ *piece.value, *piece.owner });
	if (status == TABLE_OK)
		status = btree_cut(&writer->tree, (struct btree_span){ .low = upper, .high = upper });
	if (status != TABLE_OK) {
		btree_tree_destroy(&(*sub)->tree);
		(*sub)->tree.top = NULL;
		*sub = NULL;
		numbers_give(&writer->numbers, number);
		return status;
	}
	(*sub)->upper = upper;
	(*sub)->rules = 0;
	/* The subtree's place before the value that has its number: readers load them in the opposite order. */
	btree_tree_show(&(*sub)->tree, &writer->btree->subtrees[number]);
	piece = btree_tree_piece(&writer->tree, upper);
	__atomic_store_n(piece.value, number | BTREE_SUBTREE, __ATOMIC_RELEASE);
	return TABLE_OK;
}

/* Replaces a subtree without prefixes by the prefix that covers it. The value first: then no new reader gets
 * there, and the number is free a grace period later. */
static void
btree_subtree_drop(struct btree_writer *writer, struct btree_sub *sub)
{
	const struct btree_span span = { .low = sub->upper, .high = sub->upper };
	const struct btree_piece piece = btree_tree_piece(&writer->tree, sub->upper);
	const uint32_t number = *piece.value & ~BTREE_SUBTREE;

	__atomic_store_n(piece.value, btree_record(writer, *piece.owner), __ATOMIC_RELEASE);
	btree_tree_retire(&sub->tree);
	numbers_retire(&writer->numbers, writer->ruled.layout.memory, number);
	sub->tree.top = NULL;
	btree_mend_span(writer, &writer->tree, span, 0);
}

/* The tree in which a rule has its pieces. */
static struct btree_sub *
btree_home(struct btree_writer *writer, const struct rule *rule)
{
	const struct btree_piece piece = btree_tree_piece(&writer->tree, rule->limbs[1]);

	return &writer->subs[*piece.value & ~BTREE_SUBTREE];
}

/* Cut first: that may fail, and changes nothing that packets see. From `btree_do` on nothing fails. */
static enum table_status
btree_publish(struct ruled *ruled, uint32_t number)
{
	struct btree_writer *writer = btree_of(ruled);
	const struct rule *rule = rules_at(&ruled->rules, number);
	const struct btree_span span = btree_span(writer, rule);
	struct btree_tree *tree = &writer->tree;
	struct btree_sub *sub = NULL;
	enum table_status status = TABLE_OK;

	if (btree_is_deep(writer, rule))
		status = btree_subtree(writer, rule->limbs[1], &sub);
	if (sub != NULL)
		tree = &sub->tree;
	if (status == TABLE_OK)
		status = btree_cut(tree, span);
	if (status != TABLE_OK) {
		/* Made for this rule, which failed: no other ends in it. */
		if (sub != NULL && sub->rules == 0)
			btree_subtree_drop(writer, sub);
		return status;
	}
	if (sub != NULL)
		sub->rules++;
	btree_do(writer, tree, span, BTREE_CLAIM, number, 0);
	if (!writer->ranges)
		writer->per_length[rule->priority]++;
	if (btree_tree_is_due(tree))
		btree_pack_tree(writer, tree);
	return TABLE_OK;
}

/* The reverse order: pieces get other owners, then cuts that nothing needs are mended, which may fail and be
 * left for the next packing. */
static enum table_status
btree_withdraw(struct ruled *ruled, uint32_t number)
{
	struct btree_writer *writer = btree_of(ruled);
	const struct rule *rule = rules_at(&ruled->rules, number);
	const struct btree_span span = btree_span(writer, rule);
	struct btree_sub *sub = btree_is_deep(writer, rule) ? btree_home(writer, rule) : NULL;
	struct btree_tree *tree = sub != NULL ? &sub->tree : &writer->tree;

	btree_do(writer, tree, span, BTREE_YIELD, number, writer->ranges ? 0 : btree_shorter(writer, rule));
	if (!writer->ranges)
		writer->per_length[rule->priority]--;
	if (sub != NULL && --sub->rules == 0)
		btree_subtree_drop(writer, sub);
	else
		btree_mend_span(writer, tree, span, number);
	return TABLE_OK;
}

static void
btree_change(struct ruled *ruled, uint32_t number)
{
	struct btree_writer *writer = btree_of(ruled);
	const struct rule *rule = rules_at(&ruled->rules, number);
	struct btree_tree *tree = btree_is_deep(writer, rule) ? &btree_home(writer, rule)->tree : &writer->tree;

	btree_do(writer, tree, btree_span(writer, rule), BTREE_CHANGE, number, 0);
}

static uint32_t
btree_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct btree *btree = btree_of(ruled_of(layout))->btree;

	return btree_find(btree, btree_address(btree, 0), btree_hash(btree, key, layout->limbs), key, layout->limbs);
}

static void
btree_compact(struct layout *layout)
{
	struct btree_writer *writer = btree_of(ruled_of(layout));

	btree_pack_tree(writer, &writer->tree);
	for (uint32_t i = 1; i < writer->numbers.capacity && i < writer->numbers.used; i++)
		if (writer->subs[i].tree.top != NULL)
			btree_pack_tree(writer, &writer->subs[i].tree);
}

static void
btree_destroy(struct layout *layout)
{
	struct btree_writer *writer = btree_of(ruled_of(layout));
	struct memory *memory = layout->memory;
	const uint32_t count = writer->numbers.capacity;

	for (uint32_t i = 1; i < count && i < writer->numbers.used; i++)
		btree_tree_destroy(&writer->subs[i].tree);
	btree_tree_destroy(&writer->tree);
	memory_release(memory, writer->btree->subtrees, count * sizeof(*writer->btree->subtrees));
	memory_release(memory, writer->subs, count * sizeof(*writer->subs));
	numbers_destroy(&writer->numbers, memory);
	ruled_destroy(&writer->ruled);
}

static const struct layout_functions btree_layout = RULED_LAYOUT(btree_lookup, btree_destroy, .compact = btree_compact);
static const struct ruled_structure btree_structure = {
	btree_publish, btree_withdraw, btree_change, sizeof(struct btree_writer), sizeof(struct btree),
};

/* For a range field: that alone, of at most 64 bits. */
static int
btree_suits(const struct layout_request *request)
{
	return request->range_count == 0 || (request->range_count == 1 && request->descriptor->key_limbs == 1 && request->descriptor->field_count == 1);
}

struct layout *
btree_create(const struct layout_request *request)
{
	const uint32_t parts = request->range_count != 0 ? 3 : 1;
	struct btree_writer *writer = btree_suits(request) ? btree_of(ruled_create(request, &btree_layout, &btree_structure, parts)) : NULL;

	if (writer == NULL)
		return NULL;
	writer->ranges = request->range_count != 0;
	writer->btree = (void *)writer->ruled.layout.table;
	if (btree_tree_create(&writer->tree, request->memory, btree_upper_bits(writer), (struct btree_holding){ 0, 0 }) != TABLE_OK) {
		btree_destroy(&writer->ruled.layout);
		return NULL;
	}
	btree_tree_show(&writer->tree, &writer->btree->top);
	writer->btree->wide = request->descriptor->key_limbs > 1;
	return &writer->ruled.layout;
}
