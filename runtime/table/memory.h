/* The writer's memory: small pieces cut from the host's blocks, and retired pieces that readers may still
 * use.
 *
 *    bytes    .. 4 KB             .. 32 KB    32 KB .. 1 MB                1 MB ..
 *    from     blocks, 64 sizes    the host    pages of 2 MB, 24 sizes      the host
 *    freed    to a free list      at once     to a free list               at once
 */
#ifndef BACUS_TABLE_MEMORY_H
#define BACUS_TABLE_MEMORY_H

#include "table/writer.h"

#define MEMORY_PIECE_BYTES 64u
#define MEMORY_CLASSES 64u		/* pieces of 64 to 4096 bytes */
#define MEMORY_PAGE_BYTES (2u << 20)	/* pages that the host's memory consists of, if possible */
#define MEMORY_LARGE_LEAST (32u << 10)	/* larger pieces share such pages, since small pages cost TLB misses; others come from the host */
#define MEMORY_LARGE_MOST (1u << 20)
#define MEMORY_LARGE_CLASSES 24u	/* four per doubling */

struct memory_piece;
struct memory_block;
struct memory_retired;

struct memory {
	struct table_host host;
	uint64_t bytes;	/* bytes from the host */
	/* Never decreases, so comparing two values shows whether a grace period lies between. */
	uint64_t graces;	/* grace periods so far: what was retired before one is free after it */
	struct memory_piece *pieces[MEMORY_CLASSES];
	struct memory_block *blocks;
	struct memory_piece *large[MEMORY_LARGE_CLASSES];
	struct memory_block *pages;
	struct memory_retired *retired;
	uint64_t retired_count;
	uint64_t retired_bytes;
};

void memory_create(struct memory *memory, const struct table_host *host);

/* Frees retired pieces, blocks of small pieces, and pages. The owner of pieces that came from the host
 * directly frees these. */
void memory_destroy(struct memory *memory);

/* Zeroed, aligned to 64 bytes; or NULL. */
void *memory_allocate(struct memory *memory, uint64_t bytes);
void memory_release(struct memory *memory, void *piece, uint64_t bytes);

/* Frees a piece after a grace period. Readers can no longer find it, but may still use it. NULL is allowed. */
void memory_retire(struct memory *memory, void *piece, uint64_t bytes);

/* Waits for a grace period and frees what was retired. */
void memory_grace(struct memory *memory);

/* Grows the writer's own arrays, which have no readers, from `old_count` to `count` elements. NULL: no
 * memory, the old array stays. */
void *memory_resize(struct memory *memory, void *old, uint64_t old_count, uint64_t count, uint64_t item_bytes);

#endif
