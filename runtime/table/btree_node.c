/* The four forms of nodes: inner ones and leaves, with whole keys for separators or with windows of them. */
#include "table/btree_node.h"

#include <string.h>

#define BTREE_NONE (BTREE_SIGN - 1)	/* no separator: no key is above it */
#define BTREE_WINDOW_NONE UINT32_MAX
#define BTREE_WINDOW_BITS 32u

/* The memory of a root, which may be a leaf. */
struct btree_root {
	struct btree_top top;
	uint32_t owners[BTREE_WINDOW_PIECES];
};

_Static_assert(offsetof(union btree_node, children) == offsetof(union btree_node, window_children), "both forms lead to their children by the last word");
_Static_assert(sizeof(union btree_node) == 64, "a node is a line, whose address has room for a shift");

/* Windows are a property of a tree, chosen when it is packed: all nodes of a level have one form, so readers ask
 * once per lookup, not per node. */
enum btree_form
btree_form(const struct btree_tree *tree, uint64_t level)
{
	if (level < tree->windows)
		return level == 0 ? BTREE_WINDOW_LEAF : BTREE_WINDOW_INNER;
	return level == 0 ? BTREE_LEAF : BTREE_INNER;
}

uint32_t
btree_node_most(enum btree_form form)
{
	static const uint32_t most[] = {
		[BTREE_INNER] = BTREE_CHILDREN, [BTREE_LEAF] = BTREE_PIECES,
		[BTREE_WINDOW_INNER] = BTREE_WINDOW_CHILDREN, [BTREE_WINDOW_LEAF] = BTREE_WINDOW_PIECES,
	};

	return most[form];
}

static int
btree_has_window(enum btree_form form)
{
	return form == BTREE_WINDOW_INNER || form == BTREE_WINDOW_LEAF;
}

/* The largest shift that leaves all separators' ends in the window leaves most room above.
 *
 *    key bits   | 1 to 32 bits, equal in all keys of the node | window: 32 bits | shift: 0 to 31 bits |
 *    first keys of parts have zeros below the window, separators ones
 *
 * A separator is one less than a first key, so its bits below the window are ones: cutting them off both sides
 * keeps the order, key > separator exactly if window of key > window of separator. */
int
btree_node_shift(enum btree_form form, const uint64_t *firsts, uint32_t count, uint64_t high)
{
	const uint64_t differ = firsts[0] ^ high;
	uint64_t ends = (uint64_t)1 << BTREE_SHIFT_MOST;
	int shift;

	if (!btree_has_window(form) || count == 1)
		return 0;
	for (uint32_t i = 1; i < count; i++)
		/* `ends` begins with a bit at 31, which limits the shift. */
		ends |= firsts[i];
	shift = __builtin_ctzll(ends);
	return differ >> shift >> BTREE_WINDOW_BITS == 0 ? shift : -1;
}

/* Of an inner node and of a leaf, the separators are in different places. */
static uint32_t *
btree_windows(union btree_node *node, enum btree_form form)
{
	return form == BTREE_WINDOW_LEAF ? node->windows_leaf : node->windows;
}

void
btree_node_write(union btree_node *node, enum btree_form form, const uint64_t *firsts, uint32_t count, uint64_t high)
{
	const uint32_t shift = (uint32_t)btree_node_shift(form, firsts, count, high), separators = btree_node_most(form) - 1;

	memset(node, 0, sizeof(*node));
	if (!btree_has_window(form)) {
		for (uint32_t i = 0; i < separators; i++)
			/* The last key before the next part, top bit flipped for signed comparisons. */
			node->separators[i] = i + 1 < count ? (firsts[i + 1] - 1) ^ BTREE_SIGN : BTREE_NONE;
		return;
	}
	for (uint32_t i = 0; i < separators; i++)
		btree_windows(node, form)[i] = i + 1 < count ? (uint32_t)((firsts[i + 1] - 1) >> shift) : BTREE_WINDOW_NONE;
	if (form == BTREE_WINDOW_LEAF)
		node->shift = shift;
	else
		node->window_children = shift;
}

static uint32_t
btree_shift(const union btree_node *node, enum btree_form form)
{
	return form == BTREE_WINDOW_LEAF ? node->shift : (uint32_t)(node->window_children & (sizeof(*node) - 1));
}

/* What a window does not show of a separator is what the node's keys have in common, and ends that are ones. The
 * inverse of `btree_node_write`: separator + 1, shifted back, is the first key of the part behind it. */
static uint32_t
btree_windows_read(const union btree_node *node, enum btree_form form, uint64_t low, uint64_t *firsts)
{
	const uint32_t *windows = form == BTREE_WINDOW_LEAF ? node->windows_leaf : node->windows;
	const uint32_t shift = btree_shift(node, form);
	const uint64_t common = low >> shift >> BTREE_WINDOW_BITS << BTREE_WINDOW_BITS << shift;
	uint32_t count = 1;

	for (; count < btree_node_most(form) && windows[count - 1] != BTREE_WINDOW_NONE; count++)
		firsts[count] = common | ((uint64_t)windows[count - 1] + 1) << shift;
	return count;
}

uint32_t
btree_node_read(const union btree_node *node, enum btree_form form, uint64_t low, uint64_t *firsts)
{
	uint32_t count = 1;

	firsts[0] = low;
	if (btree_has_window(form))
		return btree_windows_read(node, form, low, firsts);
	for (; count < btree_node_most(form) && node->separators[count - 1] != BTREE_NONE; count++)
		firsts[count] = (node->separators[count - 1] ^ BTREE_SIGN) + 1;
	return count;
}

union btree_node *
btree_node_children(const union btree_node *node, enum btree_form form)
{
	return form == BTREE_WINDOW_INNER ? (union btree_node *)(node->window_children & ~(sizeof(*node) - 1)) : node->children;
}

uint32_t *
btree_node_values(union btree_node *node, enum btree_form form)
{
	return form == BTREE_WINDOW_LEAF ? node->window_values : node->values;
}

/* Nodes that a group has room for. The parent's form decides, since it is the parent that has so many children.
 *
 *    group   | node 0 | node 1 | .. most | owners of node 0 | owners of node 1 | ..     owners: leaves only
 */
static uint32_t
btree_group_most(const struct btree_tree *tree, uint64_t level)
{
	return btree_node_most(btree_form(tree, level + 1));
}

uint64_t
btree_group_bytes(const struct btree_tree *tree, uint64_t level)
{
	const uint64_t owners = level == 0 ? btree_node_most(btree_form(tree, 0)) * sizeof(uint32_t) : 0;

	return btree_group_most(tree, level) * (sizeof(union btree_node) + owners);
}

uint32_t *
btree_group_owners(const struct btree_tree *tree, union btree_node *group, uint32_t index)
{
	return (uint32_t *)(void *)(group + btree_group_most(tree, 0)) + (size_t)index * btree_node_most(btree_form(tree, 0));
}

/* A group of these nodes in memory; NULL: there is none. */
static union btree_node *
btree_group_make(const struct btree_tree *tree, const struct btree_draft *drafts, uint32_t count, uint64_t level)
{
	union btree_node *group = memory_allocate(tree->memory, btree_group_bytes(tree, level));
	const uint64_t owners = btree_node_most(btree_form(tree, 0)) * sizeof(uint32_t);

	for (uint32_t i = 0; group != NULL && i < count; i++) {
		group[i] = drafts[i].node;
		if (level == 0)
			memcpy(btree_group_owners(tree, group, i), drafts[i].owners, owners);
	}
	return group;
}

/* The children are copied into one allocation, at addresses that readers compute from its begin. */
int
btree_node_over(const struct btree_tree *tree, struct btree_draft *parent, const struct btree_draft *drafts, uint32_t count, uint64_t high, uint64_t level)
{
	const enum btree_form form = btree_form(tree, level);
	union btree_node *group = btree_group_make(tree, drafts, count, level - 1);
	uint64_t firsts[BTREE_PARTS_MOST];

	for (uint32_t i = 0; i < count; i++)
		firsts[i] = drafts[i].first;
	parent->first = firsts[0];
	btree_node_write(&parent->node, form, firsts, count, high);
	if (form == BTREE_WINDOW_INNER)
		parent->node.window_children |= (uintptr_t)group;
	else
		parent->node.children = group;
	return group != NULL;
}

/* The root is in the same allocation as the height: one pointer publishes both, so a reader never descends a
 * tree by another one's height. */
struct btree_top *
btree_root_make(const struct btree_tree *tree, const struct btree_draft *draft, uint64_t height)
{
	struct btree_root *root = memory_allocate(tree->memory, sizeof(*root));

	if (root == NULL)
		return NULL;
	root->top.root = draft->node;
	root->top.height = height;
	root->top.windows = tree->windows;
	memcpy(root->owners, draft->owners, sizeof(root->owners));
	return &root->top;
}

uint32_t *
btree_root_owners(struct btree_top *top)
{
	return ((struct btree_root *)(void *)top)->owners;
}

/* Depth first: a node's children are read before its group is released, at once or after a grace period. */
void
btree_release_below(const struct btree_tree *tree, const union btree_node *node, uint64_t level, btree_release *release)
{
	const enum btree_form form = btree_form(tree, level);
	uint64_t firsts[BTREE_PARTS_MOST];
	union btree_node *children;
	uint32_t count;

	if (level == 0)
		return;
	children = btree_node_children(node, form);
	count = btree_node_read(node, form, 0, firsts);
	for (uint32_t i = 0; i < count; i++)
		btree_release_below(tree, &children[i], level - 1, release);
	release(tree->memory, children, btree_group_bytes(tree, level - 1));
}

void
btree_release_root(const struct btree_tree *tree, struct btree_top *top, btree_release *release)
{
	release(tree->memory, top, sizeof(struct btree_root));
}
