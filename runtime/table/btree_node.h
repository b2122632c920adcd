/* A node of btree.h as its writer sees it: a row of parts, which are children or intervals, with the first
 * key of each. */
#ifndef BACUS_TABLE_BTREE_NODE_H
#define BACUS_TABLE_BTREE_NODE_H

#include "table/btree_writer.h"

#define BTREE_HEIGHT_MOST 24u
#define BTREE_PARTS_MOST (BTREE_WINDOW_CHILDREN + 1)	/* of a node that is about to be two */

enum btree_form { BTREE_INNER, BTREE_LEAF, BTREE_WINDOW_INNER, BTREE_WINDOW_LEAF };

/* A node that is not in memory yet, with the owners of its pieces if it is a leaf. */
struct btree_draft {
	union btree_node node;
	uint32_t owners[BTREE_WINDOW_PIECES];
	uint64_t first;		/* the least of its keys */
};

/* The form of nodes so many levels above the leaves. */
enum btree_form btree_form(const struct btree_tree *tree, uint64_t level);

/* Parts that a node of this form has room for. */
uint32_t btree_node_most(enum btree_form form);

/* The shift of a window in which parts that begin at `firsts` differ, the last one of which ends at `high`; 0 for forms without; negative: there is none. What
 * part of such a row is left alone has one, too. */
int btree_node_shift(enum btree_form form, const uint64_t *firsts, uint32_t count, uint64_t high);

/* An empty node with the separators of parts that begin at `firsts`, the last one of which ends at `high`. */
void btree_node_write(union btree_node *node, enum btree_form form, const uint64_t *firsts, uint32_t count, uint64_t high);

/* Reads where they begin; how many there are. The first one begins at `low`, as the node does. */
uint32_t btree_node_read(const union btree_node *node, enum btree_form form, uint64_t low, uint64_t *firsts);

/* The children of an inner node. */
union btree_node *btree_node_children(const union btree_node *node, enum btree_form form);

/* The values of a leaf's intervals. */
uint32_t *btree_node_values(union btree_node *node, enum btree_form form);

/* Bytes of a group of nodes so many levels above the leaves: the children of one node, and behind leaves the owners of their pieces. */
uint64_t btree_group_bytes(const struct btree_tree *tree, uint64_t level);
/* The owners of the pieces of a group's leaf. */
uint32_t *btree_group_owners(const struct btree_tree *tree, union btree_node *group, uint32_t index);

/* A node over a row of others at that level above the leaves, which it allocates; the last one's keys end at
 * `high`. 0: no memory. */
int btree_node_over(const struct btree_tree *tree, struct btree_draft *parent, const struct btree_draft *drafts, uint32_t count, uint64_t high,
		    uint64_t level);

/* A root that is that node, `height` levels above the leaves, not yet published; NULL: no memory. */
struct btree_top *btree_root_make(const struct btree_tree *tree, const struct btree_draft *draft, uint64_t height);
uint32_t *btree_root_owners(struct btree_top *top);

/* Frees at once, or after a grace period. */
typedef void btree_release(struct memory *memory, void *piece, uint64_t bytes);

/* Frees all groups below a node. */
void btree_release_below(const struct btree_tree *tree, const union btree_node *node, uint64_t level, btree_release *release);
void btree_release_root(const struct btree_tree *tree, struct btree_top *top, btree_release *release);

#endif
