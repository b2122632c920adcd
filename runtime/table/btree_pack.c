/* Rebuilds trees, level by level, from the intervals of the old ones.
 *
 * From the leaves upwards: each level takes as many parts into a node as there is room for, so nodes are full
 * but for the last. The new tree is published by one store, and the old one retired as a whole. */
#include <string.h>

#include "table/btree_node.h"

/* All intervals of a tree in order. */
struct btree_list {
	uint64_t *firsts;
	uint32_t *values;
	uint32_t *owners;
	uint64_t count;
	uint64_t room;
};

/* Nodes of one level in order. */
struct btree_level {
	struct btree_draft *drafts;
	uint64_t count;
	uint64_t room;
};

static void
btree_list_release(const struct btree_tree *tree, struct btree_list *list)
{
	memory_release(tree->memory, list->firsts, list->room * sizeof(*list->firsts));
	memory_release(tree->memory, list->values, list->room * sizeof(*list->values));
	memory_release(tree->memory, list->owners, list->room * sizeof(*list->owners));
}

/* 0: no memory. From the tree rather than from rules: it has the owners of all pieces already. */
static int
btree_list_make(const struct btree_tree *tree, struct btree_list *list)
{
	uint64_t key = 0;

	*list = (struct btree_list){
		.firsts = memory_allocate(tree->memory, tree->pieces * sizeof(*list->firsts)),
		.values = memory_allocate(tree->memory, tree->pieces * sizeof(*list->values)),
		.owners = memory_allocate(tree->memory, tree->pieces * sizeof(*list->owners)), .room = tree->pieces,
	};
	if (list->firsts == NULL || list->values == NULL || list->owners == NULL) {
		btree_list_release(tree, list);
		return 0;
	}
	for (; list->count < tree->pieces; list->count++) {
		const struct btree_piece piece = btree_tree_piece(tree, key);

		list->firsts[list->count] = key;
		list->values[list->count] = *piece.value;
		list->owners[list->count] = *piece.owner;
		key = piece.span.high + 1;
	}
	return 1;
}

/* Marks the piece that begins at a key, if one does. */
static void
btree_list_mark(const struct btree_list *list, uint64_t key, uint8_t *needed)
{
	uint64_t from = 0, to = list->count;

	while (to - from > 1) {
		const uint64_t middle = from + (to - from) / 2;

		if (list->firsts[middle] <= key)
			from = middle;
		else
			to = middle;
	}
	needed[from] |= list->firsts[from] == key;
}

/* Leaves out cuts between pieces of one owner: of nested entries (no edges) all, of others those where none begins or ends. Where subtrees begin, pieces differ
 * by what they hold. 0: no memory. Kept pieces move to the front of the same arrays. */
static int
btree_list_thin(const struct btree_tree *tree, struct btree_list *list, const struct btree_edges *edges)
{
	uint8_t *needed = edges != NULL ? memory_allocate(tree->memory, list->room) : NULL;
	uint64_t cursor = 0, key, kept = 1;

	if (edges != NULL && needed == NULL)
		return 0;
	while (edges != NULL && edges->next(edges, &cursor, &key))
		btree_list_mark(list, key, needed);
	for (uint64_t i = 1; i < list->count; i++) {
		const int is_needed = needed != NULL && needed[i];

		if (!is_needed && list->owners[i] == list->owners[kept - 1] && list->values[i] == list->values[kept - 1])
			continue;
		list->firsts[kept] = list->firsts[i];
		list->values[kept] = list->values[i];
		list->owners[kept++] = list->owners[i];
	}
	list->count = kept;
	memory_release(tree->memory, needed, list->room);
	return 1;
}

/* How many parts the next node of a row takes: as many as it has room for, and as have a window. */
static uint32_t
btree_take(enum btree_form form, const uint64_t *firsts, uint64_t left, uint64_t high)
{
	const uint32_t most = btree_node_most(form);
	uint32_t count = 1;

	while (count < most && count < left && btree_node_shift(form, firsts, count + 1, count + 1 < left ? firsts[count + 1] - 1 : high) >= 0)
		count++;
	return count;
}

/* How many nodes of a form a row takes. */
static uint64_t
btree_count(enum btree_form form, const uint64_t *firsts, uint64_t parts, uint64_t high)
{
	uint64_t nodes = 0;

	for (uint64_t from = 0; from < parts; nodes++)
		from += btree_take(form, firsts + from, parts - from, high);
	return nodes;
}

/* Whether windows save so many nodes that one operation more per node is worth it. */
static int
btree_gains(uint64_t windows, uint64_t whole)
{
	return windows < whole - whole / 8;
}

/* 0: no memory. */
static int
btree_level_make(const struct btree_tree *tree, struct btree_level *level, uint64_t room)
{
	*level = (struct btree_level){ .drafts = memory_allocate(tree->memory, room * sizeof(*level->drafts)), .room = room };
	return level->drafts != NULL;
}

static void
btree_level_release(const struct btree_tree *tree, struct btree_level *level)
{
	memory_release(tree->memory, level->drafts, level->room * sizeof(*level->drafts));
}

/* 0: no memory. Both forms are counted first: whether windows pay depends on the keys, and only a whole tree
 * shows it. */
static int
btree_pack_leaves(struct btree_tree *tree, const struct btree_list *list, struct btree_level *leaves)
{
	const uint64_t whole = btree_count(BTREE_LEAF, list->firsts, list->count, tree->most);
	const uint64_t windows = btree_count(BTREE_WINDOW_LEAF, list->firsts, list->count, tree->most);
	enum btree_form form;

	/* One shift more per leaf against fewer leaves. */
	tree->windows = btree_gains(windows, whole) ? 1 : 0;
	tree->leaves = tree->windows != 0 ? windows : whole;
	form = btree_form(tree, 0);
	if (!btree_level_make(tree, leaves, tree->leaves))
		return 0;
	for (uint64_t from = 0; from < list->count;) {
		struct btree_draft *leaf = &leaves->drafts[leaves->count++];
		const uint32_t count = btree_take(form, list->firsts + from, list->count - from, tree->most);
		const uint64_t next = from + count;

		btree_node_write(&leaf->node, form, list->firsts + from, count, next < list->count ? list->firsts[next] - 1 : tree->most);
		memcpy(btree_node_values(&leaf->node, form), list->values + from, count * sizeof(*list->values));
		memcpy(leaf->owners, list->owners + from, count * sizeof(*list->owners));
		leaf->first = list->firsts[from];
		from = next;
	}
	return 1;
}

/* What a level that shall not be has in memory below its nodes from one on. Drafts before `from` have gone into
 * parents, which release what is below them. */
static void
btree_level_abandon(const struct btree_tree *tree, struct btree_level *level, uint64_t from, uint64_t number)
{
	for (uint64_t i = from; i < level->count; i++)
		btree_release_below(tree, &level->drafts[i].node, number, memory_release);
	btree_level_release(tree, level);
}

/* The level above another one, in its place. 0: no memory, and nothing is left of either. Drafts are copied into
 * groups here: a node's children get their address only now. */
static int
btree_pack_parents(struct btree_tree *tree, struct btree_level *level, uint64_t number)
{
	const uint64_t bytes = level->count * sizeof(uint64_t);
	uint64_t *firsts = memory_allocate(tree->memory, bytes);
	struct btree_level parents = { .count = 0 };
	int good = btree_level_make(tree, &parents, level->count) && firsts != NULL;
	uint64_t from = 0;

	for (uint64_t i = 0; good && i < level->count; i++)
		firsts[i] = level->drafts[i].first;
	/* Only above leaves with windows, so that a tree has none, one or two such levels: one number describes them
	 * to readers. */
	if (good && number == 1 && tree->windows == 1 &&
	    btree_gains(btree_count(BTREE_WINDOW_INNER, firsts, level->count, tree->most), btree_count(BTREE_INNER, firsts, level->count, tree->most)))
		tree->windows = 2;
	while (good && from < level->count) {
		const uint32_t count = btree_take(btree_form(tree, number), firsts + from, level->count - from, tree->most);
		const uint64_t next = from + count, high = next < level->count ? firsts[next] - 1 : tree->most;

		good = btree_node_over(tree, &parents.drafts[parents.count], level->drafts + from, count, high, number);
		parents.count += (uint64_t)good;
		from = good ? next : from;
	}
	memory_release(tree->memory, firsts, bytes);
	if (!good) {
		btree_level_abandon(tree, &parents, 0, number);
		btree_level_abandon(tree, level, from, number - 1);
		return 0;
	}
	btree_level_release(tree, level);
	*level = parents;
	return 1;
}

/* A tree of all intervals of a list, not yet published. 0: no memory. Nothing of it is visible before the caller
 * publishes `top`, so a failure releases it at once. */
static int
btree_pack(struct btree_tree *tree, const struct btree_list *list)
{
	struct btree_level level;
	uint64_t height = 0;

	if (!btree_pack_leaves(tree, list, &level))
		return 0;
	while (level.count > 1 && height < BTREE_HEIGHT_MOST)
		if (!btree_pack_parents(tree, &level, ++height))
			return 0;
	tree->top = level.count == 1 ? btree_root_make(tree, &level.drafts[0], height) : NULL;
	if (tree->top == NULL)
		btree_level_abandon(tree, &level, 0, height);
	else
		btree_level_release(tree, &level);
	return tree->top != NULL;
}

/* `fresh` is built beside the tree. If there is no memory for it, the tree stays as it is, and `refused` keeps
 * each write from trying again. */
void
btree_tree_pack(struct btree_tree *tree, const struct btree_edges *edges)
{
	struct btree_tree fresh = *tree;
	struct btree_list list;

	/* If there is no memory now, there may be when it has grown again, or shrunk. */
	tree->packed = tree->leaves;
	tree->refused = tree->pieces;
	if (!btree_list_make(tree, &list))
		return;
	if (btree_list_thin(tree, &list, edges) && btree_pack(&fresh, &list)) {
		/* Show, then retire: between the two, readers are in either tree, and both are whole. */
		btree_tree_show(&fresh, tree->place);
		btree_tree_retire(tree);
		fresh.pieces = list.count;
		fresh.packed = fresh.leaves;
		fresh.refused = 0;
		*tree = fresh;
	}
	btree_list_release(&fresh, &list);
}
