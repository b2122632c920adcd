/* The writer's memory: small pieces cut from the host's blocks, and pieces that wait until no reader can see them any more. */
#ifndef BACUS_TABLE_MEMORY_H
#define BACUS_TABLE_MEMORY_H

#include "table/writer.h"

#define MEMORY_PIECE_BYTES 64u
#define MEMORY_CLASSES 64u		/* pieces of 64 to 4096 bytes */
#define MEMORY_PAGE_BYTES (2u << 20)	/* what the host's memory is made of, where it can be */
#define MEMORY_LARGE_LEAST (32u << 10)	/* pieces from here on share such pages, for a table in small ones costs a look-up more; others come from the host */
#define MEMORY_LARGE_MOST (1u << 20)
#define MEMORY_LARGE_CLASSES 24u	/* four to each doubling */

struct memory_piece;
struct memory_block;
struct memory_retired;

struct memory {
	struct table_host host;
	uint64_t bytes;		/* that the host has given */
	uint64_t graces;	/* periods that have passed: what was retired before one is free after it */
	struct memory_piece *pieces[MEMORY_CLASSES];
	struct memory_block *blocks;
	struct memory_piece *large[MEMORY_LARGE_CLASSES];
	struct memory_block *pages;
	struct memory_retired *retired;
	uint64_t retired_count;
	uint64_t retired_bytes;
};

void memory_create(struct memory *memory, const struct table_host *host);

/* Frees what is retired, the blocks of small pieces, and the pages. What came from the host by itself is its owner's to release. */
void memory_destroy(struct memory *memory);

/* Zeroed, aligned to 64 bytes; or NULL. */
void *memory_allocate(struct memory *memory, uint64_t bytes);
void memory_release(struct memory *memory, void *piece, uint64_t bytes);

/* Releases after a grace period. Readers can no longer find the piece, but may still use it. NULL is allowed. */
void memory_retire(struct memory *memory, void *piece, uint64_t bytes);

/* Waits for all readers and releases what was retired. */
void memory_grace(struct memory *memory);

/* Another array of `count` items in the place of `old_count` ones, for the writer's own arrays, which no reader sees. NULL: no memory, the old one stays. */
void *memory_resize(struct memory *memory, void *old, uint64_t old_count, uint64_t count, uint64_t item_bytes);

#endif
