/* The writer's trees: pieces of a 64-bit key space, cut where entries begin and end. btree_tree.c knows nodes, btree.c knows entries. */
#ifndef BACUS_TABLE_BTREE_WRITER_H
#define BACUS_TABLE_BTREE_WRITER_H

#include "table/btree.h"
#include "table/memory.h"

struct btree_tree {
	struct memory *memory;
	struct btree_top *top;
	struct btree_top **place;	/* where readers find it; NULL: none does yet */
	uint64_t pieces;
	uint64_t leaves;
};

/* A piece: the keys from `low` to `high`, both included. */
struct btree_piece {
	uint64_t low;
	uint64_t high;
	uint32_t *value;	/* readers see it: one store at a time */
	uint32_t *owner;	/* the rule that the value is of; 0: none */
};

/* A tree of one piece. */
enum table_status btree_tree_create(struct btree_tree *tree, struct memory *memory, uint32_t value, uint32_t owner);
/* Shows the tree at a place. */
void btree_tree_show(struct btree_tree *tree, struct btree_top **place);
/* At once: no reader has seen the tree, or none is left. */
void btree_tree_destroy(struct btree_tree *tree);
/* After a grace period: readers can no longer find it. */
void btree_tree_retire(struct btree_tree *tree);

/* The piece of a key. Its pointers are good until the next cut or join. */
struct btree_piece btree_tree_piece(const struct btree_tree *tree, uint64_t key);
/* Makes a piece begin at `key`. */
enum table_status btree_tree_cut(struct btree_tree *tree, uint64_t key);
/* Unites the piece that begins at `key` with the one before it, unless a leaf begins there or there is no memory: then both stay. */
void btree_tree_join(struct btree_tree *tree, uint64_t key);

/* Whether leaves are so empty that the tree is better made anew. */
int btree_tree_is_sparse(const struct btree_tree *tree);
/* Makes the tree anew with full nodes; without memory it stays as it is. */
void btree_tree_compact(struct btree_tree *tree);

#endif
