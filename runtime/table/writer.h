/* The writer's side of a table: the control thread changes it while workers read. One writer, any number of
 * readers, without locks.
 *
 * A reader sees each write completely or not at all. Memory that readers may still use is freed or reused
 * only after a grace period (`grace`), which the host provides. Writes to one table are seen in order. The
 * functions are the same for all structures. */
#ifndef BACUS_TABLE_WRITER_H
#define BACUS_TABLE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "table/table.h"

enum table_status {
	TABLE_OK,
	TABLE_FULL,	/* `size` entries, or as many distinct records as the structure can number */
	TABLE_EXISTS,		/* an entry with this match and priority */
	TABLE_MISSING,		/* no such entry */
	TABLE_INVALID,	/* not a match for this table: bits outside the key, a mask that is no prefix, an empty range */
	TABLE_NO_MEMORY,
};

/* A table's callbacks to its host. */
struct table_host {
	/* Zeroed memory, aligned to 64 bytes, or NULL. Large pieces should be allocated without touching them
	 * (mmap, calloc). */
	void *(*allocate)(void *host, size_t bytes);
	void (*release)(void *host, void *memory, size_t bytes);
	/* Waits for a grace period: returns when no reader can still use what it found before the call. Every
	 * running worker must have passed as many ends of bursts as the pipeline keeps packets in flight,
	 * plus two (docs/abi.md). Without workers it returns at once. A worker increments its count with a
	 * full fence (an atomic addition); otherwise loads of the next burst could precede it. */
	void (*grace)(void *host);
	/* Ensures that all direct counters and meters of the table have the indices 0 .. count-1; 0 on success. May
	 * be NULL. Called before an entry has a counter index beyond the earlier count. */
	int (*counter_indices)(void *host, uint64_t count);
	/* Zeroes the direct counters of an index and unconfigures its direct meters, before an entry with this index
	 * is published. May be NULL. */
	void (*clear)(void *host, uint32_t counter_index);
	void *host;
};

/* What an entry matches, in limbs of 64 bits, low limb first, `key_limbs` each: packets with `key & mask == value & mask`. For a range field the lower
 * end is in `value`, the upper end in `high`, both included; its bits of `mask` do not matter.
 *   exact: `mask` and `high` may be NULL.      lpm (dir24_8, lpm_trie): a mask of ones from the key's top bit down; `high` may be NULL.
 *   list: `mask` NULL means all ones; `high` may be NULL if the key has no range fields.
 * Among the list's entries that match, the one with the largest priority wins, among equals the one inserted first. Other structures ignore it. */
struct table_match {
	const uint64_t *value;
	const uint64_t *mask;
	const uint64_t *high;
	uint32_t priority;
};

/* An entry of the table. The pointers are valid until the next call with this writer. */
struct table_entry {
	struct table_match match;	/* normalised; mask and high are never NULL */
	const void *record;
	uint32_t number;	/* of the record, now */
	uint32_t handle;	/* with own records: the counter index, stable for the entry's life. Else 0 */
	uint32_t timer;		/* with records of their own: of its idle timeout. Else 0 */
	uint64_t last_hit_ns;
};

struct writer;

/* NULL, and the reason in `status` unless that is NULL. The default record is all zeros: action 0. */
struct writer *writer_create(const struct table_descriptor *descriptor, const struct table_host *host, enum table_status *status);

/* A writer for the secondary table of a joint array: entries of both are in the array of `primary`, each
 * table's record numbers in its part of a word. TABLE_INVALID if these two cannot be joint: structures other
 * than exact48 and exact60 or two different ones, keys of different widths, own records, overlapping parts,
 * or a `primary` that is a secondary, has one, or has no part. With `primary` NULL as `writer_create`.
 *
 * The primary outlives its secondary and holds the array's memory. Both have one writing thread: while a
 * thread writes to one, no other thread writes to either. */
struct writer *writer_create_secondary(const struct table_descriptor *descriptor, const struct table_host *host, struct writer *primary,
	enum table_status *status);

/* The table must have no readers, and its array no secondary table. Readers of the primary may continue while
 * a secondary is destroyed. */
void writer_destroy(struct writer *writer);

/* For `shared->tables`: the same for the writer's life, whatever it grows to. */
const struct table *writer_table(const struct writer *writer);

/* `record`: record_bytes of them, copied. `handle` may be NULL. */
enum table_status writer_insert(struct writer *writer, const struct table_match *match, const void *record, uint32_t *handle);

/* Requests what an insertion of this entry reads first (step 0), and what it finds there (step 1, some time later). A malformed match is left to
 * the insertion. */
void writer_prefetch(struct writer *writer, const struct table_match *match, const void *record, uint32_t step);

/* Inserts entries in their order, whose records are one behind the other, until one is refused: `done` were inserted. What several need from memory is
 * prefetched together. */
enum table_status writer_insert_all(struct writer *writer, const struct table_match *matches, const void *records, uint32_t count, uint32_t *done);

/* Gives the entry another record. Its counter index, its time of last hit and its order among equal priorities stay. */
enum table_status writer_modify(struct writer *writer, const struct table_match *match, const void *record);

/* Entries that are inserted from now on have this time of last hit. */
void writer_set_clock(struct writer *writer, uint64_t now_ns);

/* Restarts the idle timer of the entry, as `record_restart`. TABLE_INVALID: the table's entries share records. */
enum table_status writer_restart(struct writer *writer, const struct table_match *match, uint32_t timer, uint64_t now_ns);

enum table_status writer_delete(struct writer *writer, const struct table_match *match);

/* The record of a miss. */
enum table_status writer_set_default(struct writer *writer, const void *record);

/* Fills `entry`. */
enum table_status writer_find(struct writer *writer, const struct table_match *match, struct table_entry *entry);

/* The entry with this handle (tables with records of their own). */
enum table_status writer_find_handle(struct writer *writer, uint32_t handle, struct table_entry *entry);

/* Goes through all entries, in no particular order: start with cursor 0, go on with what it returns, until that is 0, when `entry` is not filled.
 * No insertion or deletion in between, except that the entry just given may be deleted. */
uint64_t writer_next(struct writer *writer, uint64_t cursor, struct table_entry *entry);

/* The lookup of a packet with this key: the record number, 0 for a miss. For tests and tools. */
uint32_t writer_lookup(const struct writer *writer, const uint64_t *key);

uint64_t writer_count(const struct writer *writer);

/* Maximum number of entries: the descriptor's `size`, or UINT64_MAX. */
uint64_t writer_capacity(const struct writer *writer);

/* Counter indices that may be in use: at least one (the default action's), growing, and at most the last count passed
 * to `counter_indices`. */
uint64_t writer_counter_indices(const struct writer *writer);

/* Bytes of memory of the table; for a secondary, without the array. */
uint64_t writer_bytes(const struct writer *writer);

/* Makes room for `entries` in advance, so that insertions need not grow. For a joint array, room for so many
 * keys: a hint, since the number of common keys is unknown. */
enum table_status writer_reserve(struct writer *writer, uint64_t entries);

/* Brings the table into its fastest form, which takes some time: after many insertions, when few are expected
 * for a while. */
void writer_compact(struct writer *writer);

/* Path compression of an empty trie, which tries have at first: for measurements of what it gains. */
enum table_status writer_compress_paths(struct writer *writer, uint32_t compressed);

/* Deletes all entries. The default stays. */
void writer_clear(struct writer *writer);

/* From its return on no lookup finds an entry, as in an empty table, until `writer_show`: so several writes are seen
 * at once. For readers that ask `table_is_empty` before each lookup. */
void writer_hide(struct writer *writer);
void writer_show(struct writer *writer);

#endif
