/* Changes of trees (copy on write). A published node is never changed except for the values of its intervals.
 * Any other change makes new groups of nodes on the path from the changed leaf to the root, publishes the new
 * root by one store, and retires the old ones.
 *
 *    cut in leaf L of group G2:      root ─▶ G1 ─▶ G2 = { K, L, M }
 *    new:                            root' ─▶ G1' ─▶ G2' = { K, L1, L2, M }     K and M copied, with their owners
 *
 * Values are copied with their leaves. No store to a value is lost: one writer makes copies and stores values. */
#include <string.h>

#include "table/btree_node.h"

#define BTREE_LEAVES_LEAST 64u	/* fewer are never worth a tree made anew */

/* The path to a leaf: for each step, the group of nodes, the index in it, and its keys. */
struct btree_path {
	union btree_node *groups[BTREE_HEIGHT_MOST + 1];
	uint32_t index[BTREE_HEIGHT_MOST + 1];
	struct btree_span spans[BTREE_HEIGHT_MOST + 1];
	uint32_t piece;
	struct btree_span span;		/* of the piece */
};

/* The replacement of one node: one or two. */
struct btree_parts {
	struct btree_draft drafts[2];
	uint32_t count;
};

/* The nodes that a change made. Two per level at most, and as many for a new root. They are freed at once if the
 * change fails. */
struct btree_change {
	void *fresh[2 * BTREE_HEIGHT_MOST + 4];
	uint64_t fresh_bytes[2 * BTREE_HEIGHT_MOST + 4];
	uint32_t fresh_count;
	int failed;
};

/* Groups and indices rather than nodes: a change replaces groups. */
static union btree_node *
btree_path_node(const struct btree_path *path, uint64_t step)
{
	return &path->groups[step][path->index[step]];
}

/* Which part of a node the key is in, and that part's keys. Reads all separators back, unlike readers, which
 * only count: the writer needs the keys' bounds, and is rare. */
static uint32_t
btree_narrow(const union btree_node *node, enum btree_form form, uint64_t key, struct btree_span *span)
{
	uint64_t firsts[BTREE_PARTS_MOST];
	const uint32_t count = btree_node_read(node, form, span->low, firsts);
	uint32_t part = 0;

	while (part + 1 < count && firsts[part + 1] <= key)
		part++;
	span->low = firsts[part];
	if (part + 1 < count)
		span->high = firsts[part + 1] - 1;
	return part;
}

/* The same path as a reader's, with whole keys: it has to know where each node's keys begin and end. */
static void
btree_go(const struct btree_tree *tree, uint64_t key, struct btree_path *path)
{
	const uint64_t height = tree->top->height;
	struct btree_span span = { .low = 0, .high = tree->most };

	path->groups[0] = &tree->top->root;
	path->index[0] = 0;
	path->spans[0] = span;
	for (uint64_t step = 0; step < height; step++) {
		const enum btree_form form = btree_form(tree, height - step);

		path->index[step + 1] = btree_narrow(btree_path_node(path, step), form, key, &span);
		path->groups[step + 1] = btree_node_children(btree_path_node(path, step), form);
		path->spans[step + 1] = span;
	}
	path->piece = btree_narrow(btree_path_node(path, height), btree_form(tree, 0), key, &span);
	path->span = span;
}

/* The owners of the pieces of the leaf at a path's end. */
static uint32_t *
btree_owners(const struct btree_tree *tree, const struct btree_path *path)
{
	const uint64_t height = tree->top->height;

	return height == 0 ? btree_root_owners(tree->top) : btree_group_owners(tree, path->groups[height], path->index[height]);
}

struct btree_piece
btree_tree_piece(const struct btree_tree *tree, uint64_t key)
{
	struct btree_path path;

	btree_go(tree, key, &path);
	return (struct btree_piece){
		.span = path.span, .value = &btree_node_values(btree_path_node(&path, tree->top->height), btree_form(tree, 0))[path.piece],
		.owner = &btree_owners(tree, &path)[path.piece],
	};
}

/* As `btree_node_over`, as part of a change. Failures are collected in `change`, so that the caller goes on
 * without testing each step, and frees all at the end. */
static struct btree_draft
btree_make_parent(const struct btree_tree *tree, struct btree_change *change, const struct btree_draft *drafts, uint32_t count, uint64_t high, uint64_t level)
{
	struct btree_draft parent = { .owners = { 0 } };

	if (change->failed || !btree_node_over(tree, &parent, drafts, count, high, level)) {
		change->failed = 1;
		return parent;
	}
	change->fresh[change->fresh_count] = btree_node_children(&parent.node, btree_form(tree, level));
	change->fresh_bytes[change->fresh_count++] = btree_group_bytes(tree, level - 1);
	return parent;
}

/* How many parts of a row stay in the left of two nodes when one part, `fresh`, is too many or has no window
 * with the others; all: one node is enough. A node without a window for all its parts is divided at the new one,
 * not in the middle: what is on either side had a window before. */
static uint32_t
btree_divide(enum btree_form form, const uint64_t *firsts, uint32_t count, uint64_t high, uint32_t fresh)
{
	const uint32_t most = btree_node_most(form);

	/* On both sides of it are parts that had a window. */
	if (btree_node_shift(form, firsts, count, high) < 0)
		return fresh;
	if (count <= most)
		return count;
	/* Ascending insertions leave full nodes behind. */
	return fresh + 1 == count ? most : (count + 1) / 2;
}

/* Makes the nodes over a row of children, of which `fresh` may be new. */
static void
btree_make_parents(const struct btree_tree *tree, struct btree_change *change, const struct btree_draft *drafts, uint32_t count, struct btree_span span,
		   uint64_t level, uint32_t fresh, struct btree_parts *parts)
{
	uint64_t firsts[BTREE_PARTS_MOST];
	uint32_t left;

	for (uint32_t i = 0; i < count; i++)
		firsts[i] = drafts[i].first;
	left = btree_divide(btree_form(tree, level), firsts, count, span.high, fresh);
	parts->count = left == count ? 1 : 2;
	parts->drafts[0] = btree_make_parent(tree, change, drafts, left, left == count ? span.high : firsts[left] - 1, level);
	if (left != count)
		parts->drafts[1] = btree_make_parent(tree, change, drafts + left, count - left, span.high, level);
}

/* Replaces the node after a step of a path: first part of a change. `parts` is what comes instead of that node,
 * and then what comes instead of its parent: one level up per call. */
static void
btree_replace(const struct btree_tree *tree, struct btree_change *change, const struct btree_path *path, uint64_t step, struct btree_parts *parts)
{
	const uint64_t level = tree->top->height - step;
	const uint32_t index = path->index[step + 1], *owners;
	union btree_node *group = path->groups[step + 1];
	struct btree_draft drafts[BTREE_PARTS_MOST];
	uint64_t firsts[BTREE_PARTS_MOST];
	const uint32_t old = btree_node_read(btree_path_node(path, step), btree_form(tree, level), path->spans[step].low, firsts);
	uint32_t count = 0;

	for (uint32_t i = 0; i < old; i++) {
		if (i == index) {
			memcpy(&drafts[count], parts->drafts, parts->count * sizeof(*drafts));
			count += parts->count;
			continue;
		}
		drafts[count].node = group[i];
		drafts[count].first = firsts[i];
		owners = level == 1 ? btree_group_owners(tree, group, i) : NULL;
		if (owners != NULL)
			memcpy(drafts[count].owners, owners, btree_node_most(btree_form(tree, 0)) * sizeof(*owners));
		count++;
	}
	btree_make_parents(tree, change, drafts, count, path->spans[step], level, index + 1, parts);
}

/* Makes a root of the parts and publishes it. 0: no memory. All new nodes hang below the new root, which readers
 * load with acquire order: they see all or none of them. */
static int
btree_crown(struct btree_tree *tree, struct btree_change *change, struct btree_parts *parts, uint64_t height)
{
	const struct btree_span all = { .low = 0, .high = tree->most };
	struct btree_top *top = NULL;

	/* The root was divided: the tree becomes a level higher. Twice if one node cannot have a window over
	 * both. */
	while (parts->count == 2 && height < BTREE_HEIGHT_MOST) {
		const struct btree_draft children[2] = { parts->drafts[0], parts->drafts[1] };

		btree_make_parents(tree, change, children, 2, all, ++height, 1, parts);
	}
	if (parts->count == 1 && !change->failed)
		top = btree_root_make(tree, &parts->drafts[0], height);
	if (top == NULL) {
		for (uint32_t i = 0; i < change->fresh_count; i++)
			memory_release(tree->memory, change->fresh[i], change->fresh_bytes[i]);
		return 0;
	}
	tree->top = top;
	if (tree->place != NULL)
		__atomic_store_n(tree->place, tree->top, __ATOMIC_RELEASE);
	return 1;
}

/* Replaces the leaf at the end of a path. 0: no memory, and nothing has changed. Before a tree is published it
 * has no readers, and what is replaced is released at once. */
static int
btree_change_leaf(struct btree_tree *tree, const struct btree_path *path, struct btree_parts *parts)
{
	struct btree_change change = { .fresh_count = 0, .failed = 0 };
	struct btree_top *old = tree->top;
	const uint64_t height = old->height;
	btree_release *release = tree->place != NULL ? memory_retire : memory_release;

	for (uint64_t step = height; step-- != 0 && !change.failed;)
		btree_replace(tree, &change, path, step, parts);
	if (!btree_crown(tree, &change, parts, height))
		return 0;
	for (uint64_t step = height; step != 0; step--)
		/* The groups on the path, which were copied; all others belong to the new tree. */
		release(tree->memory, path->groups[step], btree_group_bytes(tree, height - step));
	btree_release_root(tree, old, release);
	return 1;
}

/* Pieces of one leaf in a row, with room for one more. */
struct btree_row {
	uint64_t firsts[BTREE_WINDOW_PIECES + 1];
	uint32_t values[BTREE_WINDOW_PIECES + 1];
	uint32_t owners[BTREE_WINDOW_PIECES + 1];
	uint32_t count;
};

static void
btree_read_row(const struct btree_tree *tree, const struct btree_path *path, struct btree_row *row)
{
	const enum btree_form form = btree_form(tree, 0);
	const uint64_t height = tree->top->height;
	union btree_node *leaf = btree_path_node(path, height);

	row->count = btree_node_read(leaf, form, path->spans[height].low, row->firsts);
	memcpy(row->values, btree_node_values(leaf, form), row->count * sizeof(*row->values));
	memcpy(row->owners, btree_owners(tree, path), row->count * sizeof(*row->owners));
}

static struct btree_draft
btree_leaf(const struct btree_tree *tree, const struct btree_row *row, uint32_t from, uint32_t count, uint64_t high)
{
	struct btree_draft draft = { .owners = { 0 }, .first = row->firsts[from] };

	btree_node_write(&draft.node, btree_form(tree, 0), row->firsts + from, count, high);
	memcpy(btree_node_values(&draft.node, btree_form(tree, 0)), row->values + from, count * sizeof(*row->values));
	memcpy(draft.owners, row->owners + from, count * sizeof(*row->owners));
	return draft;
}

/* The piece is divided, both halves with its value and owner: readers notice nothing. At most one node per level
 * becomes two. */
enum table_status
btree_tree_cut(struct btree_tree *tree, uint64_t key)
{
	struct btree_parts parts = { .count = 1 };
	struct btree_path path;
	struct btree_row row;
	uint32_t left, fresh;
	uint64_t high;

	btree_go(tree, key, &path);
	if (path.span.low == key)
		return TABLE_OK;
	btree_read_row(tree, &path, &row);
	fresh = path.piece + 1;
	/* The piece is in the row twice then, from its own first key and from `key` on. */
	memmove(row.firsts + fresh + 1, row.firsts + fresh, (row.count - fresh) * sizeof(*row.firsts));
	memmove(row.values + fresh, row.values + path.piece, (row.count - path.piece) * sizeof(*row.values));
	memmove(row.owners + fresh, row.owners + path.piece, (row.count - path.piece) * sizeof(*row.owners));
	row.firsts[fresh] = key;
	row.count++;
	high = path.spans[tree->top->height].high;
	left = btree_divide(btree_form(tree, 0), row.firsts, row.count, high, fresh);
	parts.drafts[0] = btree_leaf(tree, &row, 0, left, left == row.count ? high : row.firsts[left] - 1);
	if (left != row.count) {
		parts.drafts[1] = btree_leaf(tree, &row, left, row.count - left, high);
		parts.count = 2;
	}
	if (!btree_change_leaf(tree, &path, &parts))
		return TABLE_NO_MEMORY;
	tree->pieces++;
	tree->leaves += left != row.count;
	return TABLE_OK;
}

/* Only within a leaf. Leaves that become sparse are not united one by one: the tree is packed when it is due. */
void
btree_tree_join(struct btree_tree *tree, uint64_t key)
{
	struct btree_parts parts = { .count = 1 };
	struct btree_path path;
	struct btree_row row;
	uint32_t gone;

	btree_go(tree, key, &path);
	gone = path.piece;
	if (path.span.low != key || gone == 0)
		return;
	btree_read_row(tree, &path, &row);
	row.count--;
	memmove(row.firsts + gone, row.firsts + gone + 1, (row.count - gone) * sizeof(*row.firsts));
	memmove(row.values + gone, row.values + gone + 1, (row.count - gone) * sizeof(*row.values));
	memmove(row.owners + gone, row.owners + gone + 1, (row.count - gone) * sizeof(*row.owners));
	parts.drafts[0] = btree_leaf(tree, &row, 0, row.count, path.spans[tree->top->height].high);
	if (btree_change_leaf(tree, &path, &parts))
		tree->pieces--;
}

enum table_status
btree_tree_create(struct btree_tree *tree, struct memory *memory, uint32_t bits, struct btree_holding held)
{
	struct btree_row row = { .firsts = { 0 }, .values = { held.value }, .owners = { held.owner }, .count = 1 };
	struct btree_draft leaf;

	*tree = (struct btree_tree){
		.memory = memory, .most = bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1, .pieces = 1, .leaves = 1, .packed = 1,
	};
	leaf = btree_leaf(tree, &row, 0, 1, tree->most);
	tree->top = btree_root_make(tree, &leaf, 0);
	return tree->top != NULL ? TABLE_OK : TABLE_NO_MEMORY;
}

void
btree_tree_show(struct btree_tree *tree, struct btree_top **place)
{
	tree->place = place;
	__atomic_store_n(place, tree->top, __ATOMIC_RELEASE);
}

static void
btree_release_all(const struct btree_tree *tree, btree_release *release)
{
	struct btree_top *top = tree->top;

	if (top == NULL)
		return;
	btree_release_below(tree, &top->root, top->height, release);
	btree_release_root(tree, top, release);
}

void
btree_tree_destroy(struct btree_tree *tree)
{
	btree_release_all(tree, memory_release);
}

void
btree_tree_retire(struct btree_tree *tree)
{
	btree_release_all(tree, memory_retire);
}

/* Sparse: fewer than two pieces to a leaf. Doubled: insertions split full leaves into halves, and windows are
 * only chosen anew when the whole tree is. */
int
btree_tree_is_due(const struct btree_tree *tree)
{
	const int is_sparse = tree->leaves > tree->pieces / 2;
	/* Without memory, a new attempt at each write would cost more than the sparse tree does. */
	const int is_refused = tree->refused != 0 && tree->pieces > tree->refused - tree->refused / 8;

	return tree->leaves > BTREE_LEAVES_LEAST && ((is_sparse && !is_refused) || tree->leaves > 2 * tree->packed);
}
