/* Writes the trie of lpm_trie.h concurrently with readers.
 *
 * A published node is never changed except for a pointer to a child or the number of a record, one store
 * each. Any other change makes a new node, publishes it in the old one's place, and retires that. Nodes begin
 * at multiples of the stride, and so do the paths between them.
 *
 * A reader that is in an old node sees the subtree as it was: old nodes point to children that are still right,
 * or retired as well and kept for a grace period.
 *
 *    fork: a prefix that begins with 000111 comes to a node whose path is 000000
 *    [path 000000] ─▶ children     becomes     [path ""] ─ 000000 ─▶ [path ""] ─▶ children
 *                                                        └ 000111 ─▶ [the prefix]
 */
#include "table/lpm_trie.h"

#include <string.h>

#include "table/layout.h"
#include "table/rules.h"
#include "table/writer.h"

struct lpm_trie_writer {
	struct layout layout;
	struct lpm_trie *trie;
	struct rules rules;		/* a prefix's value; its length as priority */
	/* Room for the longest path: a node for each stride, and two more. */
	struct lpm_trie_step *steps;	/* the path to a node */
};

/* A node on a path, and the pointer that leads to it. The pointer is within the parent, or is the root: what a
 * replacement stores to. */
struct lpm_trie_step {
	struct lpm_trie_node **link;
	struct lpm_trie_node *node;
};

/* A node in a form for changes. Children and records by their six bits or numbers, with gaps: 64 of each, on the
 * stack. */
struct lpm_trie_draft {
	uint64_t path;
	uint64_t children;
	uint64_t prefixes;
	uint32_t path_bits;
	struct lpm_trie_node *below[64];
	uint32_t records[64];
};

/* A prefix, seen from a node at `depth`. */
struct lpm_trie_prefix {
	const uint64_t *value;
	uint32_t key_bits;
	uint32_t length;
	uint32_t record;
	uint32_t path_most;	/* of the trie */
};

static struct lpm_trie_writer *
lpm_trie_of(const struct layout *layout)
{
	return (struct lpm_trie_writer *)(uintptr_t)layout;
}

static uint64_t
lpm_trie_node_bytes(uint32_t children, uint32_t prefixes)
{
	return sizeof(struct lpm_trie_node) + children * sizeof(struct lpm_trie_node *) + prefixes * sizeof(uint32_t);
}

static uint64_t
lpm_trie_bytes(const struct lpm_trie_node *node)
{
	return lpm_trie_node_bytes(node->child_count, lpm_trie_count(node->prefixes));
}

/* Positions are ranks of bits in a node, indices in a draft: a bit can be added without moving others. */
static void
lpm_trie_open(struct lpm_trie_draft *draft, const struct lpm_trie_node *node)
{
	const uint32_t *records = lpm_trie_records(node);
	uint32_t at = 0;

	draft->path = node->path;
	draft->path_bits = node->path_bits;
	draft->children = node->children;
	draft->prefixes = node->prefixes;
	for (uint64_t left = node->children; left != 0; left &= left - 1)
		draft->below[__builtin_ctzll(left)] = node->below[at++];
	at = 0;
	for (uint64_t left = node->prefixes; left != 0; left &= left - 1)
		draft->records[__builtin_ctzll(left)] = records[at++];
}

/* The draft as a node, or NULL. */
static struct lpm_trie_node *
lpm_trie_close(struct memory *memory, const struct lpm_trie_draft *draft)
{
	const uint32_t children = lpm_trie_count(draft->children);
	struct lpm_trie_node *node = memory_allocate(memory, lpm_trie_node_bytes(children, lpm_trie_count(draft->prefixes)));
	uint32_t *records, at = 0;

	if (node == NULL)
		return NULL;
	node->path = draft->path;
	node->path_bits = draft->path_bits;
	node->children = draft->children;
	node->prefixes = draft->prefixes;
	node->child_count = children;
	for (uint64_t left = draft->children; left != 0; left &= left - 1)
		node->below[at++] = draft->below[__builtin_ctzll(left)];
	records = (uint32_t *)(void *)(node->below + children);
	for (uint64_t left = draft->prefixes; left != 0; left &= left - 1)
		*records++ = draft->records[__builtin_ctzll(left)];
	return node;
}

/* Replaces a published node. Release order: the new node is complete. Readers load pointers with acquire order
 * (`lpm_trie_step`). */
static void
lpm_trie_replace(struct memory *memory, struct lpm_trie_node **link, struct lpm_trie_node *node)
{
	struct lpm_trie_node *old = *link;

	__atomic_store_n(link, node, __ATOMIC_RELEASE);
	if (old != NULL)
		memory_retire(memory, old, lpm_trie_bytes(old));
}

/* A count of 0 would shift by 64 bits. */
static uint64_t
lpm_trie_take(const struct lpm_trie_prefix *prefix, uint32_t depth, uint32_t count)
{
	return count == 0 ? 0 : lpm_trie_bits(prefix->value, (prefix->key_bits + 63) / 64, prefix->key_bits, depth, count);
}

/* Number of a prefix that ends in a node whose own bits begin at `depth`. A one, then the bits: numbers of
 * different lengths differ, and longer ones are larger. */
static uint32_t
lpm_trie_ending(const struct lpm_trie_prefix *prefix, uint32_t depth)
{
	const uint32_t rest = prefix->length - depth;

	return (uint32_t)((uint64_t)1 << rest | lpm_trie_take(prefix, depth, rest));
}

static void
lpm_trie_add_prefix(struct lpm_trie_draft *draft, uint32_t ending, uint32_t record)
{
	draft->prefixes |= (uint64_t)1 << ending;
	draft->records[ending] = record;
}

static void
lpm_trie_add_child(struct lpm_trie_draft *draft, uint32_t six, struct lpm_trie_node *child)
{
	draft->children |= (uint64_t)1 << six;
	draft->below[six] = child;
}

/* Frees nodes of `lpm_trie_branch` that no reader has seen. A chain: each node but the last has one child. */
static void
lpm_trie_release(struct memory *memory, struct lpm_trie_node *node)
{
	while (node != NULL) {
		struct lpm_trie_node *child = node->child_count != 0 ? node->below[0] : NULL;

		memory_release(memory, node, lpm_trie_bytes(node));
		node = child;
	}
}

/* A node for the prefix alone, from `depth` on; with a chain of nodes above it if the path is too long for one.
 * NULL: no memory. From its last node upwards, so that a published pointer leads to a whole chain. */
static struct lpm_trie_node *
lpm_trie_branch(struct memory *memory, const struct lpm_trie_prefix *prefix, uint32_t depth)
{
	const uint32_t rest = prefix->length - depth, chain = prefix->path_most + LPM_TRIE_STRIDE;
	uint32_t links = 0, at;
	struct lpm_trie_node *node;
	struct lpm_trie_draft draft = { .children = 0 };

	/* A node holds 54 + 6 bits, or six without path compression: a longer path to the prefix is a chain of nodes with one child each. */
	while (rest - links * chain >= chain)
		links++;
	at = depth + links * chain;
	draft.path_bits = (prefix->length - at) / LPM_TRIE_STRIDE * LPM_TRIE_STRIDE;
	draft.path = lpm_trie_take(prefix, at, draft.path_bits);
	lpm_trie_add_prefix(&draft, lpm_trie_ending(prefix, at + draft.path_bits), prefix->record);
	node = lpm_trie_close(memory, &draft);
	while (node != NULL && links-- != 0) {
		struct lpm_trie_draft above = { .path_bits = prefix->path_most };
		struct lpm_trie_node *parent;

		at -= chain;
		above.path = lpm_trie_take(prefix, at, prefix->path_most);
		lpm_trie_add_child(&above, (uint32_t)lpm_trie_take(prefix, at + prefix->path_most, LPM_TRIE_STRIDE), node);
		parent = lpm_trie_close(memory, &above);
		if (parent == NULL)
			lpm_trie_release(memory, node);
		node = parent;
	}
	return node;
}

/* The number of bits that the prefix and the node's path have in common, in whole strides. Whole strides only,
 * so that nodes stay at multiples of six bits and a fork has six bits of its own. */
static uint32_t
lpm_trie_common(const struct lpm_trie_prefix *prefix, const struct lpm_trie_node *node, uint32_t depth)
{
	const uint32_t rest = prefix->length - depth, most = rest < node->path_bits ? rest : node->path_bits;
	uint32_t common = 0;

	while (common + LPM_TRIE_STRIDE <= most) {
		const uint32_t behind = node->path_bits - common - LPM_TRIE_STRIDE;

		if (lpm_trie_take(prefix, depth + common, LPM_TRIE_STRIDE) != (node->path >> behind & 63))
			break;
		common += LPM_TRIE_STRIDE;
	}
	return common;
}

/* Adds the prefix, whose bits end in or continue below the draft's node, at `depth`. 0: no memory. Fewer than
 * six bits left: it ends here. Six or more: they choose a child, which has the rest. */
static int
lpm_trie_extend(struct memory *memory, struct lpm_trie_draft *draft, const struct lpm_trie_prefix *prefix, uint32_t depth)
{
	struct lpm_trie_node *branch;

	if (prefix->length - depth < LPM_TRIE_STRIDE) {
		lpm_trie_add_prefix(draft, lpm_trie_ending(prefix, depth), prefix->record);
		return 1;
	}
	branch = lpm_trie_branch(memory, prefix, depth + LPM_TRIE_STRIDE);
	if (branch == NULL)
		return 0;
	lpm_trie_add_child(draft, (uint32_t)lpm_trie_take(prefix, depth, LPM_TRIE_STRIDE), branch);
	return 1;
}

/* The prefix differs from the node's path after `common` bits: a node there, with the rest of the old one and
 * the prefix below. Three new nodes or more, one store. If memory runs out in between, nothing has been
 * published. */
static enum table_status
lpm_trie_fork(struct memory *memory, struct lpm_trie_node **link, const struct lpm_trie_prefix *prefix, uint32_t depth, uint32_t common)
{
	struct lpm_trie_draft draft, below;
	struct lpm_trie_node *node, *rest;
	uint32_t behind;

	lpm_trie_open(&below, *link);
	behind = below.path_bits - common - LPM_TRIE_STRIDE;
	draft.path_bits = common;
	draft.path = common == 0 ? 0 : below.path >> (below.path_bits - common);
	draft.children = 0;
	draft.prefixes = 0;
	below.path_bits = behind;
	rest = NULL;
	if (lpm_trie_extend(memory, &draft, prefix, depth + common)) {
		const uint32_t six = (uint32_t)(below.path >> behind & 63);

		below.path &= ((uint64_t)1 << behind) - 1;
		rest = lpm_trie_close(memory, &below);
		if (rest != NULL)
			lpm_trie_add_child(&draft, six, rest);
	}
	node = rest != NULL ? lpm_trie_close(memory, &draft) : NULL;
	if (node == NULL) {	/* the prefix's own nodes are lost until the table is destroyed: memory is exhausted */
		memory_release(memory, rest, rest != NULL ? lpm_trie_bytes(rest) : 0);
		return TABLE_NO_MEMORY;
	}
	lpm_trie_replace(memory, link, node);
	return TABLE_OK;
}

/* Down to where the prefix leaves the trie; there one node is replaced, by one store. Three cases: the path
 * differs (fork), the node has no child for the next six bits or the prefix ends in it (extend), or the trie is
 * empty (branch). */
static enum table_status
lpm_trie_add(struct memory *memory, struct lpm_trie_node **link, const struct lpm_trie_prefix *prefix)
{
	uint32_t depth = 0;
	struct lpm_trie_node *node;

	while ((node = *link) != NULL) {
		const uint32_t common = lpm_trie_common(prefix, node, depth);
		struct lpm_trie_draft draft;
		uint32_t six;

		if (common < node->path_bits)
			return lpm_trie_fork(memory, link, prefix, depth, common);
		depth += common;
		six = prefix->length - depth < LPM_TRIE_STRIDE ? 64 : (uint32_t)lpm_trie_take(prefix, depth, LPM_TRIE_STRIDE);
		if (six < 64 && (node->children >> six & 1)) {
			link = &node->below[lpm_trie_count(node->children & (((uint64_t)1 << six) - 1))];
			depth += LPM_TRIE_STRIDE;
			continue;
		}
		lpm_trie_open(&draft, node);
		if (!lpm_trie_extend(memory, &draft, prefix, depth))
			return TABLE_NO_MEMORY;
		node = lpm_trie_close(memory, &draft);
		if (node == NULL)
			return TABLE_NO_MEMORY;
		lpm_trie_replace(memory, link, node);
		return TABLE_OK;
	}
	node = lpm_trie_branch(memory, prefix, depth);
	if (node == NULL)
		return TABLE_NO_MEMORY;
	lpm_trie_replace(memory, link, node);
	return TABLE_OK;
}

/* Descends to the node in which an existing prefix ends, and fills `steps`. Returns their number; `depth` is
 * where that node's own bits begin. No comparison of paths: the prefix is in the trie, so they agree. */
static uint32_t
lpm_trie_descend(const struct lpm_trie_writer *writer, const struct lpm_trie_prefix *prefix, uint32_t *depth)
{
	struct lpm_trie_node **link = &writer->trie->root;
	uint32_t count = 0;

	*depth = 0;
	for (;;) {
		struct lpm_trie_node *node = *link;
		uint32_t six;

		writer->steps[count++] = (struct lpm_trie_step){ .link = link, .node = node };
		*depth += node->path_bits;
		if (prefix->length - *depth < LPM_TRIE_STRIDE)
			return count;
		six = (uint32_t)lpm_trie_take(prefix, *depth, LPM_TRIE_STRIDE);
		link = &node->below[lpm_trie_count(node->children & (((uint64_t)1 << six) - 1))];
		*depth += LPM_TRIE_STRIDE;
	}
}

/* A draft of a node with only one child becomes that child, if one path holds both.
 *
 *    [path p] ─ six ─▶ [path q] ─▶ ..       becomes       [path p six q] ─▶ ..      of at most 54 bits
 */
static void
lpm_trie_shorten(struct lpm_trie_draft *draft, struct lpm_trie_node **absorbed, uint32_t path_most)
{
	const uint32_t six = draft->children != 0 ? (uint32_t)__builtin_ctzll(draft->children) : 0;
	const uint64_t path = draft->path;
	const uint32_t path_bits = draft->path_bits;

	if (draft->prefixes != 0 || lpm_trie_count(draft->children) != 1)
		return;
	if (path_bits + LPM_TRIE_STRIDE + draft->below[six]->path_bits > path_most)
		return;
	*absorbed = draft->below[six];
	lpm_trie_open(draft, *absorbed);
	/* The draft is the child's from here on, with the parent's bits above its own path. */
	draft->path |= (path << LPM_TRIE_STRIDE | six) << draft->path_bits;
	draft->path_bits += path_bits + LPM_TRIE_STRIDE;
}

/* A node that becomes empty goes with its parent's pointer, and so on upwards. What is left of the topmost
 * changed node may be joined with its only child. One store publishes all of it. */
static enum table_status
lpm_trie_drop(const struct lpm_trie_writer *writer, const struct lpm_trie_prefix *prefix)
{
	struct memory *memory = writer->layout.memory;
	struct lpm_trie_node *absorbed = NULL, *node = NULL;
	struct lpm_trie_draft draft;
	uint32_t depth, count = lpm_trie_descend(writer, prefix, &depth);
	const uint32_t deepest = count;

	lpm_trie_open(&draft, writer->steps[count - 1].node);
	draft.prefixes &= ~((uint64_t)1 << lpm_trie_ending(prefix, depth));
	/* Removes empty nodes upwards. */
	while (count > 1 && draft.prefixes == 0 && draft.children == 0) {
		struct lpm_trie_node **link = writer->steps[count - 1].link;
		const struct lpm_trie_node *parent = writer->steps[count - 2].node;
		uint64_t at = (uint64_t)(link - parent->below), left = parent->children;

		lpm_trie_open(&draft, parent);
		while (at-- != 0)
			left &= left - 1;
		/* The child's bit: the one at the pointer's position among the bits that are set. */
		draft.children &= ~(left & -left);
		count--;
	}
	if (draft.prefixes != 0 || draft.children != 0) {
		lpm_trie_shorten(&draft, &absorbed, prefix->path_most);
		node = lpm_trie_close(memory, &draft);
		if (node == NULL)
			return TABLE_NO_MEMORY;
	}
	/* One store takes the whole branch away; its nodes are retired behind it. */
	lpm_trie_replace(memory, writer->steps[count - 1].link, node);
	for (uint32_t i = count; i < deepest; i++)
		memory_retire(memory, writer->steps[i].node, lpm_trie_bytes(writer->steps[i].node));
	if (absorbed != NULL)
		memory_retire(memory, absorbed, lpm_trie_bytes(absorbed));
	return TABLE_OK;
}

static struct lpm_trie_prefix
lpm_trie_prefix(const struct layout *layout, const struct layout_match *match, uint32_t record)
{
	return (struct lpm_trie_prefix){
		.value = match->value, .key_bits = layout->key_bits, .length = match->length, .record = record,
		.path_most = lpm_trie_of(layout)->trie->path_most,
	};
}

static enum table_status
lpm_trie_insert(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	struct lpm_trie_writer *writer = lpm_trie_of(layout);
	const struct lpm_trie_prefix prefix = lpm_trie_prefix(layout, match, record);
	const uint32_t rule = rules_add(&writer->rules, match->length, match->value, record);
	enum table_status status;

	if (rule == 0)
		return TABLE_NO_MEMORY;
	if (layout->records->own)
		layout->records->counter_indices.links[records_counter_index(layout->records, record)] = rule;
	status = lpm_trie_add(layout->memory, &writer->trie->root, &prefix);
	if (status != TABLE_OK)
		rules_remove(&writer->rules, rule);
	return status;
}

static void
lpm_trie_prefetch(const struct layout *layout, const struct layout_match *match, uint32_t step)
{
	rules_prefetch(&lpm_trie_of(layout)->rules, match->length, match->value, step);
}

static uint32_t
lpm_trie_find_entry(const struct layout *layout, const struct layout_match *match)
{
	const struct lpm_trie_writer *writer = lpm_trie_of(layout);
	const uint32_t rule = rules_find(&writer->rules, match->length, match->value);

	return rule == 0 ? 0 : rules_at(&writer->rules, rule)->record;
}

/* In place: readers of older copies of the node find the old record, which is kept for a grace period. */
static void
lpm_trie_modify(struct layout *layout, const struct layout_match *match, uint32_t record)
{
	struct lpm_trie_writer *writer = lpm_trie_of(layout);
	const struct lpm_trie_prefix prefix = lpm_trie_prefix(layout, match, record);
	uint32_t depth;
	const uint32_t count = lpm_trie_descend(writer, &prefix, &depth);
	const struct lpm_trie_node *node = writer->steps[count - 1].node;
	const uint64_t before = node->prefixes & (((uint64_t)1 << lpm_trie_ending(&prefix, depth)) - 1);
	uint32_t *place = (uint32_t *)(uintptr_t)(lpm_trie_records(node) + lpm_trie_count(before));

	__atomic_store_n(place, record, __ATOMIC_RELEASE);
	rules_at(&writer->rules, rules_find(&writer->rules, match->length, match->value))->record = record;
}

static enum table_status
lpm_trie_remove(struct layout *layout, const struct layout_match *match)
{
	struct lpm_trie_writer *writer = lpm_trie_of(layout);
	const struct lpm_trie_prefix prefix = lpm_trie_prefix(layout, match, 0);
	const enum table_status status = lpm_trie_drop(writer, &prefix);

	if (status == TABLE_OK)
		rules_remove(&writer->rules, rules_find(&writer->rules, match->length, match->value));
	return status;
}

static int
lpm_trie_locate(const struct layout *layout, uint32_t note, struct layout_match *match, uint32_t *record)
{
	const struct rule *rule = rules_live(&lpm_trie_of(layout)->rules, note);

	if (rule == NULL)
		return 0;
	memcpy(match->value, rule->limbs, layout->limbs * sizeof(*match->value));
	match->length = rule->priority;
	*record = rule->record;
	return 1;
}

static uint64_t
lpm_trie_next(const struct layout *layout, uint64_t cursor, struct layout_match *match, uint32_t *record)
{
	const uint32_t rule = rules_next(&lpm_trie_of(layout)->rules, (uint32_t)cursor);

	if (rule != 0)
		lpm_trie_locate(layout, rule, match, record);
	return rule;
}

static uint32_t
lpm_trie_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct lpm_trie *trie = lpm_trie_of(layout)->trie;

	return lpm_trie_find(trie, lpm_trie_address(trie, 0), 0, key, layout->limbs);
}

static enum table_status
lpm_trie_reserve(struct layout *layout, uint64_t entries)
{
	return rules_reserve(&lpm_trie_of(layout)->rules, entries);
}

/* Larger nodes would not come from the blocks of small pieces, and would have to be freed one by one. */
_Static_assert(sizeof(struct lpm_trie_node) + 64 * sizeof(void *) + 64 * sizeof(uint32_t) <= MEMORY_CLASSES * MEMORY_PIECE_BYTES, "nodes are small pieces");

static void
lpm_trie_destroy(struct layout *layout)
{
	struct lpm_trie_writer *writer = lpm_trie_of(layout);
	struct memory *memory = layout->memory;

	rules_destroy(&writer->rules);
	memory_release(memory, writer->steps, (layout->key_bits / LPM_TRIE_STRIDE + 2) * sizeof(*writer->steps));
	memory_release(memory, writer->trie, sizeof(*writer->trie));
	memory_release(memory, writer, sizeof(*writer));
}

static const struct layout_functions lpm_trie_functions = {
	.insert = lpm_trie_insert, .find = lpm_trie_find_entry, .modify = lpm_trie_modify, .remove = lpm_trie_remove, .next = lpm_trie_next,
	.locate = lpm_trie_locate, .lookup = lpm_trie_lookup, .reserve = lpm_trie_reserve, .prefetch = lpm_trie_prefetch, .destroy = lpm_trie_destroy,
};

struct layout *
lpm_trie_create(const struct layout_request *request)
{
	struct memory *memory = request->memory;
	const uint32_t key_bits = request->descriptor->key_bits;
	struct lpm_trie_writer *writer = memory_allocate(memory, sizeof(*writer));

	if (writer == NULL)
		return NULL;
	writer->layout = layout_begin(request, &lpm_trie_functions);
	writer->rules.memory = memory;
	writer->trie = memory_allocate(memory, sizeof(*writer->trie));
	writer->steps = memory_allocate(memory, (key_bits / LPM_TRIE_STRIDE + 2) * sizeof(*writer->steps));
	if (writer->trie == NULL || writer->steps == NULL || rules_create(&writer->rules, memory, request->descriptor->key_limbs) != TABLE_OK) {
		lpm_trie_destroy(&writer->layout);
		return NULL;
	}
	writer->trie->key_bits = key_bits;
	writer->trie->path_most = LPM_TRIE_PATH_BITS;
	writer->layout.table = &writer->trie->table;
	return &writer->layout;
}

/* By the part that readers see: `path_most` is the writer's alone. */
enum table_status
writer_compress_paths(struct writer *writer, uint32_t compressed)
{
	struct lpm_trie *trie = (struct lpm_trie *)(uintptr_t)writer_table(writer);

	if (trie->table.structure != STRUCTURE_LPM_TRIE || trie->root != NULL)
		return TABLE_INVALID;
	trie->path_most = compressed ? LPM_TRIE_PATH_BITS : 0;
	return TABLE_OK;
}
