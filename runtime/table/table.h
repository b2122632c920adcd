/* The common part of all table structures: the records that lookups find.
 *
 * A lookup returns a record number, 0 for a miss. `table_record` maps it to the record: the action's
 * number (uint32_t), then the parameters; for a miss, the default action's. A record never changes while
 * readers may use it: the writer makes a new one and puts its number into the entry. So `modify` changes an
 * entry's record number, but not its counter index (`record_counter_index`), the index of its direct counters and meters.
 *
 *    entry ─▶ number ─▶ records + number * record_stride
 *
 *    own records   | last hit, counter index, timer | action u32 | parameters .. |       a stride: head and record
 *                                                   ^ address of the record
 */
#ifndef BACUS_TABLE_H
#define BACUS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"

/* Loads a word that a writer may replace at any time, and through which other memory is read. An acquire load
 * would do, and is used where the processor or the thread sanitizer needs it. But for compilers it is a barrier
 * for all memory: they reload the worker's own unchanged data after it, and forget what they know of it. On x86,
 * loads are not reordered by the processor, and volatile loads are not reordered by compilers. Each of these
 * loads pairs with a release store of the writer:
 *
 *    reader                       writer
 *    TABLE_LOAD(&records)         records_grow: contents first, then the array
 *    TABLE_LOAD(&miss)            writer_set_default: the record first, then its number
 *    TABLE_LOAD(&occupied)        writer_insert: 1 before the entry; writer_delete: 0 after it
 */
#if defined(__has_feature)
#define TABLE_HAS_FEATURE(feature) __has_feature(feature)
#else
#define TABLE_HAS_FEATURE(feature) 0
#endif
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !TABLE_HAS_FEATURE(thread_sanitizer)
#define TABLE_LOAD(word) (*(const volatile __typeof__(*(word)) *)(word))
#else
#define TABLE_LOAD(word) __atomic_load_n(word, __ATOMIC_ACQUIRE)
#endif

/* The first member of every structure: `const struct table *` of any table of `shared->tables`. Code that does
 * not know the structure reads records by it. On one line: a lookup that needs `occupied`, `miss` and `records`
 * takes one. */
struct table {
	uint32_t structure;	/* enum structure */
	uint32_t record_bytes;
	uint32_t record_stride;
	uint32_t records_own;
	uint32_t miss;		/* the default action's record */
	uint32_t only;	/* one more than the action that all entries run; 0: several, or unknown */
	uint32_t occupied;	/* 0: no lookup can find an entry */
	uint8_t *records;	/* address of record 0, which is unused */
};

/* Precedes each record of a table with own records (`records_own`). It precedes the record, so that a record looks
 * the same with and without it. `last_hit_ns` is the only word of a table that its readers write; `timer` and
 * `counter_index` are the writer's. */
struct record_head {
	uint64_t last_hit_ns;
	uint32_t counter_index;	/* index of the direct counters and meters, and the entry's handle; 0 is the default action's */
	uint32_t timer;	/* 0: none; else the number of a time that the host knows: 1 is profile 0 */
};

/* Whether there are no entries, so that a lookup would find nothing. Loads of entries that follow see all
 * that was written before the table became empty, or was created. */
static inline uint32_t
table_is_empty(const struct table *table)
{
	return TABLE_LOAD(&table->occupied) == 0;
}

/* The stride of records: a literal for literal arguments. */
static inline uint32_t
table_stride(uint32_t record_bytes, uint32_t records_own)
{
	return record_bytes + (records_own ? (uint32_t)sizeof(struct record_head) : 0);
}

/* The record array, for all numbers found before this. Called after the lookups: a number that was found belongs
 * to this array or to an older one, and an array keeps the numbers of all older ones. In the other direction, a new
 * number could be looked for in an array without it. */
static inline const uint8_t *
table_records(const struct table *table)
{
	return TABLE_LOAD(&table->records);
}

/* A record number: the default action's, if none was found. */
static inline uint32_t
table_record_number(const struct table *table, uint32_t found)
{
	return found != 0 ? found : TABLE_LOAD(&table->miss);
}

/* As `table_record`, for code that knows the stride at compile time. */
static inline const void *
table_record_at(const struct table *table, uint32_t number, uint32_t stride)
{
	const uint32_t found = table_record_number(table, number);

	return table_records(table) + (size_t)found * stride;
}

/* As `table_record_at`, for code that knows where the records are. */
static inline const void *
table_record_of(const struct table *table, const uint8_t *records, uint32_t number, uint32_t stride)
{
	return __builtin_expect(number != 0, 1) ? records + (size_t)number * stride : table_record_at(table, 0, stride);
}

/* The table's record number, 0 for none, in the result of a lookup in a joint array (`part_shift` and
 * `part_bits` of its descriptor): a literal shift and mask for literal arguments. */
static inline uint32_t
table_part(uint32_t found, uint32_t shift, uint32_t bits)
{
	return found >> shift & (((uint32_t)1 << bits) - 1);
}

/* The record with this number; number 0 is the default action's. */
static inline const void *
table_record(const struct table *table, uint32_t number)
{
	return table_record_at(table, number, table->record_stride);
}

static inline uint32_t
record_action(const void *record)
{
	return *(const uint32_t *)record;
}

/* Whether all entries run this action, including those that were found before this. The order matters: lookups
 * first, then this. The writer clears `only` before an entry with another action can be found (`actions_add`),
 * and sets it again a grace period after the last one is gone. */
static inline uint32_t
table_runs_only(const struct table *table, uint32_t action)
{
	return __atomic_load_n(&table->only, __ATOMIC_ACQUIRE) == action + 1;
}

/* Index of the entry's direct counters and meters. Only for tables with own records. */
static inline uint32_t
record_counter_index(const void *record)
{
	return ((const struct record_head *)record - 1)->counter_index;
}

/* Records a hit for the entry's idle timeout. Writes at most once per burst, since `now_ns` is the burst's. Only
 * with own records. The comparison saves the store: a line that all workers write would bounce between their
 * cores for each packet.
 *
 * Workers' clocks differ by a burst at most, so it does not matter which store is last. */
static inline void
record_hit(const void *record, uint64_t now_ns)
{
	struct record_head *head = (struct record_head *)(uintptr_t)record - 1;

	if (__atomic_load_n(&head->last_hit_ns, __ATOMIC_RELAXED) != now_ns)
		__atomic_store_n(&head->last_hit_ns, now_ns, __ATOMIC_RELAXED);
}

/* Restarts an entry's timer with the time of another profile. */
static inline void
record_restart(const void *record, uint64_t now_ns, uint32_t timer)
{
	struct record_head *head = (struct record_head *)(uintptr_t)record - 1;

	__atomic_store_n(&head->timer, timer, __ATOMIC_RELAXED);
	__atomic_store_n(&head->last_hit_ns, now_ns, __ATOMIC_RELAXED);
}

static inline uint32_t
record_timer(const void *record)
{
	return __atomic_load_n(&((const struct record_head *)record - 1)->timer, __ATOMIC_RELAXED);
}

static inline uint64_t
record_last_hit(const void *record)
{
	return __atomic_load_n(&((const struct record_head *)record - 1)->last_hit_ns, __ATOMIC_RELAXED);
}

#endif
