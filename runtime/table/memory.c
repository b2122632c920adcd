/* The writer's memory. Small pieces are rounded up to cache lines and kept in a free list per size; so are
 * large ones, which are cut from pages of 2 MB. Retired pieces are collected until there are enough for a
 * grace period.
 *
 * A retired piece is neither in a free list nor with the host until a grace period has passed since it was
 * unlinked. `memory_release` is for pieces that no reader has ever seen, or that were in a grace period before. */
#include "table/memory.h"

#include <string.h>

#define MEMORY_BLOCK_LEAST (16u << 10)
#define MEMORY_BLOCK_MOST (2u << 20)
/* A grace period begins when so many pieces, or bytes, wait for one: it costs the writer a burst of the slowest
 * worker, whatever it frees. */
#define MEMORY_RETIRED_MOST 1024u
#define MEMORY_RETIRED_BYTES (16u << 20)

struct memory_piece {
	struct memory_piece *next;
};

struct memory_block {
	struct memory_block *next;
	uint64_t bytes;
	uint64_t used;
};

struct memory_retired {
	void *piece;
	uint64_t bytes;
};

void
memory_create(struct memory *memory, const struct table_host *host)
{
	*memory = (struct memory){ .host = *host };
}

static void *
memory_ask(struct memory *memory, uint64_t bytes)
{
	void *piece = memory->host.allocate(memory->host.host, bytes);

	if (piece != NULL)
		memory->bytes += bytes;
	return piece;
}

static void
memory_return(struct memory *memory, void *piece, uint64_t bytes)
{
	memory->bytes -= bytes;
	memory->host.release(memory->host.host, piece, bytes);
}

/* Class c has pieces of up to (c + 1) lines. */
static uint32_t
memory_class(uint64_t bytes)
{
	return bytes == 0 ? 0 : (uint32_t)((bytes - 1) / MEMORY_PIECE_BYTES);
}

/* A block with room for `bytes`: the newest one, or a new one, whose size grows with the table. What is left of
 * the old block is not used any more: at most a piece of 4 KB. */
static struct memory_block *
memory_block(struct memory *memory, uint64_t bytes)
{
	struct memory_block *block = memory->blocks;
	uint64_t size = MEMORY_BLOCK_LEAST;

	if (block != NULL && block->bytes - block->used >= bytes)
		return block;
	/* About a quarter of what the table has: few blocks, of which only the newest is partly used. */
	while (size < MEMORY_BLOCK_MOST && size < memory->bytes / 4)
		size *= 2;
	block = memory_ask(memory, size);
	if (block == NULL)
		return NULL;
	*block = (struct memory_block){ .next = memory->blocks, .bytes = size, .used = MEMORY_PIECE_BYTES };
	memory->blocks = block;
	return block;
}

/* Sizes between 4 and 32 KB are rare, and beyond a megabyte pieces are large pages by themselves: both come from
 * the host one by one. */
static int
memory_is_large(uint64_t bytes)
{
	return bytes >= MEMORY_LARGE_LEAST && bytes <= MEMORY_LARGE_MOST;
}

/* The size class of a large piece, and its size: four steps between powers of two, so that at most a fifth of a piece is unused. */
static uint32_t
memory_large_class(uint64_t bytes, uint64_t *size)
{
	uint32_t class = 0;
	uint64_t step = MEMORY_LARGE_LEAST / 4;

	*size = MEMORY_LARGE_LEAST;
	while (*size < bytes) {
		*size += step;
		class++;
		if (class % 4 == 0)
			step *= 2;
	}
	return class;
}

static void *
memory_allocate_large(struct memory *memory, uint64_t bytes)
{
	uint64_t size;
	const uint32_t class = memory_large_class(bytes, &size);
	struct memory_piece *piece = memory->large[class];
	struct memory_block *page = memory->pages;

	if (piece != NULL) {
		memory->large[class] = piece->next;
		return memset(piece, 0, size);
	}
	if (page == NULL || page->bytes - page->used < size) {
		page = memory_ask(memory, MEMORY_PAGE_BYTES);
		if (page == NULL)
			return NULL;
		*page = (struct memory_block){ .next = memory->pages, .bytes = MEMORY_PAGE_BYTES, .used = MEMORY_PIECE_BYTES };
		memory->pages = page;
	}
	/* The rest of a page that is too small stays unused. Its first line is the block's head, so pieces are
	 * 64-byte aligned, not page-aligned. */
	page->used += size;
	return (uint8_t *)page + page->used - size;
}

/* Whether the host allocates such pieces one by one. With -DMEMORY_SEPARATE it does so for all: sanitizers then
 * see each of them. */
static int
memory_is_separate(uint64_t bytes)
{
#ifdef MEMORY_SEPARATE
	(void)bytes;
	return 1;
#else
	return bytes > MEMORY_CLASSES * (uint64_t)MEMORY_PIECE_BYTES && !memory_is_large(bytes);
#endif
}

void *
memory_allocate(struct memory *memory, uint64_t bytes)
{
	const uint32_t class = memory_class(bytes);
	const uint64_t size = (class + 1) * (uint64_t)MEMORY_PIECE_BYTES;
	struct memory_block *block;
	void *piece;

	if (memory_is_separate(bytes))
		return memory_ask(memory, size);
	if (memory_is_large(bytes))
		return memory_allocate_large(memory, bytes);
	piece = memory->pieces[class];
	if (piece != NULL) {
		memory->pieces[class] = memory->pieces[class]->next;
		/* A recycled piece has old content; the host's memory is zero already. */
		return memset(piece, 0, size);
	}
	block = memory_block(memory, size);
	if (block == NULL)
		return NULL;
	piece = (uint8_t *)block + block->used;
	block->used += size;
	return piece;
}

/* Into a free list, never back to the host, but for separate pieces: a table that has shrunk keeps its blocks. */
void
memory_release(struct memory *memory, void *piece, uint64_t bytes)
{
	const uint32_t class = memory_class(bytes);
	struct memory_piece *free_piece = piece;

	if (piece == NULL)
		return;
	if (memory_is_separate(bytes)) {
		memory_return(memory, piece, (class + 1) * (uint64_t)MEMORY_PIECE_BYTES);
		return;
	}
	if (memory_is_large(bytes)) {
		uint64_t size;
		const uint32_t large = memory_large_class(bytes, &size);

		free_piece->next = memory->large[large];
		memory->large[large] = free_piece;
		return;
	}
	free_piece->next = memory->pieces[class];
	memory->pieces[class] = free_piece;
}

static void
memory_release_retired(struct memory *memory)
{
	for (uint64_t i = 0; i < memory->retired_count; i++)
		memory_release(memory, memory->retired[i].piece, memory->retired[i].bytes);
	memory->retired_count = 0;
	memory->retired_bytes = 0;
}

/* The host waits until no reader has what was unlinked (`readers.wait` of crates/runtime/src/quiescent.rs). All
 * that was retired before is then free, of all structures of this table. */
void
memory_grace(struct memory *memory)
{
	/* Unlinking must be visible before the readers' counts are read: a store and a later load of another
	 * address may be reordered, on x86 as well. Pairs with the full fence at the end of each burst. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memory->host.grace(memory->host.host);
	memory->graces++;
	memory_release_retired(memory);
}

/* The caller has unlinked the piece by a release store before. This may wait for a grace period by itself: so a
 * structure retires only when its change is complete. */
void
memory_retire(struct memory *memory, void *piece, uint64_t bytes)
{
	if (piece == NULL)
		return;
	if (memory->retired == NULL)
		memory->retired = memory_ask(memory, MEMORY_RETIRED_MOST * sizeof(*memory->retired));
	/* Without room to remember the piece, its grace period has to end now. */
	if (memory->retired == NULL) {
		memory_grace(memory);
		memory_release(memory, piece, bytes);
		return;
	}
	memory->retired[memory->retired_count++] = (struct memory_retired){ .piece = piece, .bytes = bytes };
	memory->retired_bytes += bytes;
	if (memory->retired_count == MEMORY_RETIRED_MOST || memory->retired_bytes >= MEMORY_RETIRED_BYTES)
		memory_grace(memory);
}

void *
memory_resize(struct memory *memory, void *old, uint64_t old_count, uint64_t count, uint64_t item_bytes)
{
	void *array = memory_allocate(memory, count * item_bytes);

	if (array == NULL)
		return NULL;
	if (old != NULL) {
		memcpy(array, old, (old_count < count ? old_count : count) * item_bytes);
		memory_release(memory, old, old_count * item_bytes);
	}
	return array;
}

static void
memory_return_blocks(struct memory *memory, struct memory_block *block)
{
	while (block != NULL) {
		struct memory_block *next = block->next;

		memory_return(memory, block, block->bytes);
		block = next;
	}
}

/* The table has no readers any more, so retired pieces need no grace period. */
void
memory_destroy(struct memory *memory)
{
	memory_release_retired(memory);
	if (memory->retired != NULL)
		memory_return(memory, memory->retired, MEMORY_RETIRED_MOST * sizeof(*memory->retired));
	memory_return_blocks(memory, memory->blocks);
	memory_return_blocks(memory, memory->pages);
}
