/* Nodes of btree.h. A node that readers may see is never changed but for the values of its pieces. Any other change makes new groups of nodes on the way
 * from the changed leaf up to the root, shows the new root by one store, and retires the old ones. */
#include "table/btree_writer.h"

#include <string.h>

#define BTREE_HEIGHT_MOST 24u
#define BTREE_NONE (BTREE_SIGN - 1)	/* no separator: no key is above it */
#define BTREE_SPARSE_LEAST 64u

/* The memory of a root, which may be a leaf, and of a group of leaves: behind the nodes, the owners of pieces. */
struct btree_root {
	struct btree_top top;
	uint32_t owners[BTREE_PIECES];
};

struct btree_leaves {
	union btree_node nodes[BTREE_CHILDREN];
	uint32_t owners[BTREE_CHILDREN][BTREE_PIECES];
};

/* The way to a leaf: for each level, the group of nodes and which of them. */
struct btree_path {
	union btree_node *groups[BTREE_HEIGHT_MOST + 1];
	uint32_t index[BTREE_HEIGHT_MOST + 1];
	uint32_t piece;
	uint64_t low;
	uint64_t high;
};

/* A node that is not in memory yet, with the owners of its pieces if it is a leaf. */
struct btree_draft {
	union btree_node node;
	uint32_t owners[BTREE_PIECES];
};

/* What takes the place of one node: one, or two with a separator between them. */
struct btree_parts {
	struct btree_draft drafts[2];
	uint64_t separator;
	uint32_t count;
};

/* Groups that a change made, and those it replaces. */
struct btree_change {
	union btree_node *fresh[2 * BTREE_HEIGHT_MOST + 4];
	uint64_t fresh_bytes[2 * BTREE_HEIGHT_MOST + 4];
	uint32_t fresh_count;
	int failed;
};

/* At once, or after a grace period. */
typedef void btree_release(struct memory *memory, void *piece, uint64_t bytes);

static uint64_t
btree_group_bytes(int leaves)
{
	return leaves ? sizeof(struct btree_leaves) : sizeof(union btree_node) * BTREE_CHILDREN;
}

/* Separators in use, of at most so many. */
static uint32_t
btree_fill(const union btree_node *node, uint32_t most)
{
	uint32_t count = 0;

	while (count < most && node->separators[count] != BTREE_NONE)
		count++;
	return count;
}

static void
btree_clear(union btree_node *node, int leaf)
{
	memset(node, 0, sizeof(*node));
	for (uint32_t i = 0; i < (leaf ? BTREE_PIECES : BTREE_CHILDREN) - 1; i++)
		node->separators[i] = BTREE_NONE;
}

/* Narrows the bounds by a node's separators around the key. Which child or piece it is. */
static uint32_t
btree_narrow(const union btree_node *node, uint32_t most, uint64_t key, struct btree_path *path)
{
	const uint32_t count = btree_count(node, key, ((uint32_t)1 << most) - 1);

	if (count != 0)
		path->low = (node->separators[count - 1] ^ BTREE_SIGN) + 1;
	if (count < most && node->separators[count] != BTREE_NONE)
		path->high = node->separators[count] ^ BTREE_SIGN;
	return count;
}

static void
btree_go(const struct btree_tree *tree, uint64_t key, struct btree_path *path)
{
	path->low = 0;
	path->high = UINT64_MAX;
	path->groups[0] = &tree->top->root;
	path->index[0] = 0;
	for (uint64_t level = 0; level < tree->top->height; level++) {
		const union btree_node *node = &path->groups[level][path->index[level]];

		path->index[level + 1] = btree_narrow(node, BTREE_CHILDREN - 1, key, path);
		path->groups[level + 1] = node->children;
	}
	path->piece = btree_narrow(&path->groups[tree->top->height][path->index[tree->top->height]], BTREE_PIECES - 1, key, path);
}

/* The owners of the pieces of a leaf of a group, or of the root. */
static uint32_t *
btree_owners(const struct btree_tree *tree, union btree_node *group, uint32_t index)
{
	if (group == &tree->top->root)
		return ((struct btree_root *)tree->top)->owners;
	return ((struct btree_leaves *)(void *)group)->owners[index];
}

struct btree_piece
btree_tree_piece(const struct btree_tree *tree, uint64_t key)
{
	const uint64_t height = tree->top->height;
	struct btree_path path;

	btree_go(tree, key, &path);
	return (struct btree_piece){
		.low = path.low, .high = path.high, .value = &path.groups[height][path.index[height]].values[path.piece],
		.owner = &btree_owners(tree, path.groups[height], path.index[height])[path.piece],
	};
}

/* Memory for a group of so many nodes, or for a root. */
static void *
btree_make(struct btree_tree *tree, struct btree_change *change, uint64_t bytes)
{
	void *made = change->failed ? NULL : memory_allocate(tree->memory, bytes);

	if (made == NULL) {
		change->failed = 1;
		return NULL;
	}
	change->fresh[change->fresh_count] = made;
	change->fresh_bytes[change->fresh_count++] = bytes;
	return made;
}

/* A group of these nodes; NULL: no memory. */
static union btree_node *
btree_make_group(struct btree_tree *tree, struct btree_change *change, const struct btree_draft *drafts, uint32_t count, int leaves)
{
	union btree_node *group = btree_make(tree, change, btree_group_bytes(leaves));

	for (uint32_t i = 0; group != NULL && i < count; i++) {
		group[i] = drafts[i].node;
		if (leaves)
			memcpy(((struct btree_leaves *)(void *)group)->owners[i], drafts[i].owners, sizeof(drafts[i].owners));
	}
	return group;
}

/* A node above these children. */
static struct btree_draft
btree_make_parent(struct btree_tree *tree, struct btree_change *change, const struct btree_draft *drafts, const uint64_t *separators, uint32_t count,
		  int leaves)
{
	struct btree_draft parent = { .owners = { 0 } };

	btree_clear(&parent.node, 0);
	memcpy(parent.node.separators, separators, (count - 1) * sizeof(*separators));
	parent.node.children = btree_make_group(tree, change, drafts, count, leaves);
	return parent;
}

/* Puts parts in the place of one node of a group: what the group's parent becomes. */
static void
btree_replace(struct btree_tree *tree, struct btree_change *change, const union btree_node *parent, uint32_t index, struct btree_parts *parts, int leaves)
{
	const uint32_t old = btree_fill(parent, BTREE_CHILDREN - 1) + 1, count = old + parts->count - 1;
	struct btree_draft drafts[BTREE_CHILDREN + 1];
	uint64_t separators[BTREE_CHILDREN];
	uint32_t left = count;

	for (uint32_t i = 0, at = 0; i < old; i++) {
		if (i == index) {
			memcpy(&drafts[at], parts->drafts, parts->count * sizeof(*drafts));
			if (parts->count == 2)
				separators[at] = parts->separator;
			at += parts->count;
		} else {
			drafts[at].node = parent->children[i];
			if (leaves)
				memcpy(drafts[at].owners, ((struct btree_leaves *)(void *)parent->children)->owners[i], sizeof(drafts[at].owners));
			at++;
		}
		if (i + 1 < old)
			separators[at - 1] = parent->separators[i];
	}
	/* Who comes in order leaves full nodes behind. */
	if (count > BTREE_CHILDREN)
		left = index + 1 == old ? BTREE_CHILDREN : (count + 1) / 2;
	parts->drafts[0] = btree_make_parent(tree, change, drafts, separators, left, leaves);
	parts->count = 1;
	if (left != count) {
		parts->drafts[1] = btree_make_parent(tree, change, drafts + left, separators + left, count - left, leaves);
		parts->separator = separators[left - 1];
		parts->count = 2;
	}
}

/* Makes a root of the parts and shows it. 0: no memory. */
static int
btree_crown(struct btree_tree *tree, struct btree_change *change, struct btree_parts *parts, uint64_t height)
{
	struct btree_root *root;

	if (parts->count == 2) {
		parts->drafts[0] = btree_make_parent(tree, change, parts->drafts, &parts->separator, 2, height == 0);
		height++;
	}
	root = height > BTREE_HEIGHT_MOST ? NULL : btree_make(tree, change, sizeof(*root));
	if (root == NULL || change->failed) {
		for (uint32_t i = 0; i < change->fresh_count; i++)
			memory_release(tree->memory, change->fresh[i], change->fresh_bytes[i]);
		return 0;
	}
	root->top.root = parts->drafts[0].node;
	root->top.height = height;
	memcpy(root->owners, parts->drafts[0].owners, sizeof(root->owners));
	tree->top = &root->top;
	if (tree->place != NULL)
		__atomic_store_n(tree->place, tree->top, __ATOMIC_RELEASE);
	return 1;
}

/* Puts parts in the place of the leaf at the end of a path. 0: no memory, and nothing has changed. */
static int
btree_change_leaf(struct btree_tree *tree, const struct btree_path *path, struct btree_parts *parts)
{
	struct btree_change change = { .fresh_count = 0, .failed = 0 };
	struct btree_top *old = tree->top;
	const uint64_t height = old->height;
	btree_release *release = tree->place != NULL ? memory_retire : memory_release;

	for (uint64_t level = height; level != 0; level--) {
		const union btree_node *parent = &path->groups[level - 1][path->index[level - 1]];

		btree_replace(tree, &change, parent, path->index[level], parts, level == height);
		if (change.failed)
			break;
	}
	if (!btree_crown(tree, &change, parts, height))
		return 0;
	for (uint64_t level = height; level != 0; level--)
		release(tree->memory, path->groups[level], btree_group_bytes(level == height));
	release(tree->memory, old, sizeof(struct btree_root));
	return 1;
}

/* Pieces of one leaf in a row, with room for one more. */
struct btree_row {
	uint64_t separators[BTREE_PIECES];
	uint32_t values[BTREE_PIECES + 1];
	uint32_t owners[BTREE_PIECES + 1];
	uint32_t count;
};

static void
btree_read_row(const struct btree_tree *tree, const struct btree_path *path, struct btree_row *row)
{
	union btree_node *group = path->groups[tree->top->height];
	const uint32_t index = path->index[tree->top->height];

	row->count = btree_fill(&group[index], BTREE_PIECES - 1) + 1;
	memcpy(row->separators, group[index].separators, (row->count - 1) * sizeof(*row->separators));
	memcpy(row->values, group[index].values, row->count * sizeof(*row->values));
	memcpy(row->owners, btree_owners(tree, group, index), row->count * sizeof(*row->owners));
}

static struct btree_draft
btree_leaf(const struct btree_row *row, uint32_t from, uint32_t count)
{
	struct btree_draft draft = { .owners = { 0 } };

	btree_clear(&draft.node, 1);
	memcpy(draft.node.separators, row->separators + from, (count - 1) * sizeof(*row->separators));
	memcpy(draft.node.values, row->values + from, count * sizeof(*row->values));
	memcpy(draft.owners, row->owners + from, count * sizeof(*row->owners));
	return draft;
}

enum table_status
btree_tree_cut(struct btree_tree *tree, uint64_t key)
{
	struct btree_parts parts = { .count = 1 };
	struct btree_path path;
	struct btree_row row;
	uint32_t left;

	btree_go(tree, key, &path);
	if (path.low == key)
		return TABLE_OK;
	btree_read_row(tree, &path, &row);
	memmove(row.separators + path.piece + 1, row.separators + path.piece, (row.count - 1 - path.piece) * sizeof(*row.separators));
	memmove(row.values + path.piece + 1, row.values + path.piece, (row.count - path.piece) * sizeof(*row.values));
	memmove(row.owners + path.piece + 1, row.owners + path.piece, (row.count - path.piece) * sizeof(*row.owners));
	row.separators[path.piece] = (key - 1) ^ BTREE_SIGN;
	row.count++;
	left = row.count <= BTREE_PIECES ? row.count : path.piece + 2 == row.count ? BTREE_PIECES : (row.count + 1) / 2;
	parts.drafts[0] = btree_leaf(&row, 0, left);
	if (left != row.count) {
		parts.drafts[1] = btree_leaf(&row, left, row.count - left);
		parts.separator = row.separators[left - 1];
		parts.count = 2;
	}
	if (!btree_change_leaf(tree, &path, &parts))
		return TABLE_NO_MEMORY;
	tree->pieces++;
	tree->leaves += left != row.count;
	return TABLE_OK;
}

void
btree_tree_join(struct btree_tree *tree, uint64_t key)
{
	struct btree_parts parts = { .count = 1 };
	struct btree_path path;
	struct btree_row row;

	btree_go(tree, key, &path);
	if (path.low != key || path.piece == 0)
		return;
	btree_read_row(tree, &path, &row);
	row.count--;
	memmove(row.separators + path.piece - 1, row.separators + path.piece, (row.count - path.piece) * sizeof(*row.separators));
	memmove(row.values + path.piece, row.values + path.piece + 1, (row.count - path.piece) * sizeof(*row.values));
	memmove(row.owners + path.piece, row.owners + path.piece + 1, (row.count - path.piece) * sizeof(*row.owners));
	parts.drafts[0] = btree_leaf(&row, 0, row.count);
	if (btree_change_leaf(tree, &path, &parts))
		tree->pieces--;
}

enum table_status
btree_tree_create(struct btree_tree *tree, struct memory *memory, uint32_t value, uint32_t owner)
{
	struct btree_root *root = memory_allocate(memory, sizeof(*root));

	*tree = (struct btree_tree){ .memory = memory, .pieces = 1, .leaves = 1 };
	if (root == NULL)
		return TABLE_NO_MEMORY;
	btree_clear(&root->top.root, 1);
	root->top.root.values[0] = value;
	root->owners[0] = owner;
	tree->top = &root->top;
	return TABLE_OK;
}

void
btree_tree_show(struct btree_tree *tree, struct btree_top **place)
{
	tree->place = place;
	__atomic_store_n(place, tree->top, __ATOMIC_RELEASE);
}

static void
btree_release_below(const struct btree_tree *tree, const union btree_node *node, uint64_t height, btree_release *release)
{
	if (height == 0)
		return;
	for (uint32_t i = 0; i <= btree_fill(node, BTREE_CHILDREN - 1); i++)
		btree_release_below(tree, &node->children[i], height - 1, release);
	release(tree->memory, node->children, btree_group_bytes(height == 1));
}

static void
btree_release_all(struct btree_tree *tree, btree_release *release)
{
	struct btree_top *top = tree->top;

	if (top == NULL)
		return;
	btree_release_below(tree, &top->root, top->height, release);
	release(tree->memory, top, sizeof(struct btree_root));
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

int
btree_tree_is_sparse(const struct btree_tree *tree)
{
	return tree->leaves > BTREE_SPARSE_LEAST && tree->leaves > tree->pieces / 2;
}

/* Cuts a fresh tree at every piece of the old one, in order: so all nodes but the last ones are full. */
void
btree_tree_compact(struct btree_tree *tree)
{
	struct btree_piece piece = btree_tree_piece(tree, 0);
	struct btree_tree fresh;
	enum table_status status = btree_tree_create(&fresh, tree->memory, *piece.value, *piece.owner);

	while (status == TABLE_OK && piece.high != UINT64_MAX) {
		struct btree_piece copy;

		piece = btree_tree_piece(tree, piece.high + 1);
		status = btree_tree_cut(&fresh, piece.low);
		if (status != TABLE_OK)
			break;
		copy = btree_tree_piece(&fresh, piece.low);
		*copy.value = *piece.value;
		*copy.owner = *piece.owner;
	}
	if (status != TABLE_OK) {
		btree_tree_destroy(&fresh);
		return;
	}
	btree_tree_show(&fresh, tree->place);
	btree_tree_retire(tree);
	*tree = fresh;
}
