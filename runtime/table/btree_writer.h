/* The writer's trees: pieces of a 64-bit key space, cut where entries begin and end. btree_node.c knows what a node holds, btree_tree.c changes trees,
 * btree_pack.c makes them anew, btree.c knows entries. */
#ifndef BACUS_TABLE_BTREE_WRITER_H
#define BACUS_TABLE_BTREE_WRITER_H

#include "table/btree.h"
#include "table/memory.h"

/* Keys from `low` to `high`, both included. */
struct btree_span {
	uint64_t low;
	uint64_t high;
};

struct btree_tree {
	struct memory *memory;
	struct btree_top *top;
	struct btree_top **place;	/* where readers find it; NULL: none does yet */
	uint64_t most;			/* the largest key */
	uint64_t windows;		/* as in btree_top */
	uint64_t pieces;
	uint64_t leaves;
	uint64_t packed;		/* leaves when it was last made anew, or was to be */
	uint64_t refused;		/* pieces when there was no memory for that; 0: there was */
};

/* What a piece holds. Readers see the value only. The owner is beside it, not in the node, so that a node stays
 * a line. */
struct btree_holding {
	uint32_t value;
	uint32_t owner;		/* the rule that the value is of; 0: none */
};

struct btree_piece {
	struct btree_span span;
	uint32_t *value;	/* readers see it: one store at a time */
	uint32_t *owner;
};

/* Where entries begin, or end before, that are not nested, in any order: gives one after the other. 0: no more. */
struct btree_edges {
	int (*next)(const struct btree_edges *edges, uint64_t *cursor, uint64_t *key);
	const void *of;
};

/* A tree of one piece, of all keys of so many bits. A tree is never empty: all keys have a piece, if only one
 * without an owner. */
enum table_status btree_tree_create(struct btree_tree *tree, struct memory *memory, uint32_t bits, struct btree_holding held);
/* Publishes the tree at a place. */
void btree_tree_show(struct btree_tree *tree, struct btree_top **place);
/* At once: the tree has no readers. */
void btree_tree_destroy(struct btree_tree *tree);
/* After a grace period: readers can no longer find the tree. */
void btree_tree_retire(struct btree_tree *tree);

/* The piece of a key. Its pointers are good until the next cut or join. */
struct btree_piece btree_tree_piece(const struct btree_tree *tree, uint64_t key);
/* Makes a piece begin at `key`. */
enum table_status btree_tree_cut(struct btree_tree *tree, uint64_t key);
/* Unites the piece that begins at `key` with the one before it, unless a leaf begins there or there is no memory: then both stay. */
void btree_tree_join(struct btree_tree *tree, uint64_t key);

/* Whether the tree should be rebuilt: leaves are too empty, or there are twice as many as after the last
 * rebuild. */
int btree_tree_is_due(const struct btree_tree *tree);
/* Makes the tree anew with full nodes, with windows where there are fewer of them then, and without cuts that nothing needs any more. `edges` are all that
 * entries need; NULL: none ends within another, so that neighbours of one owner are one piece. Without memory the tree stays as it is. */
void btree_tree_pack(struct btree_tree *tree, const struct btree_edges *edges);

#endif
