/* The records of a table: which are in use, and which are in a grace period.
 *
 * Shared records are deduplicated by content. With own records, each entry also has a counter index, which it keeps
 * when `modify` gives it another record. */
#ifndef BACUS_TABLE_RECORDS_H
#define BACUS_TABLE_RECORDS_H

#include "table/memory.h"

/* Numbers from 1 to `capacity`, allocated in order; free numbers and those in a grace period are lists
 * through `links`.
 *
 *    free    ──▶ 7 ──▶ 3 ──▶ 0
 *    retired ──▶ 9 ──▶ 5 ──▶ 0      5 is `retired_last`: free numbers are appended to it
 *
 * The list of retired numbers becomes free as a whole, a grace period after the newest: one comparison. */
struct numbers {
	uint32_t *links;	/* for numbers in use: their owner's note */
	uint32_t capacity;	/* numbers below it have a link */
	uint32_t used;		/* numbers below it have been handed out */
	uint32_t free;
	uint32_t retired;
	uint32_t retired_last;
	uint32_t retired_count;
	uint64_t retired_grace;	/* grace periods so far when the last one was retired */
};

/* 0: none without growth or one more grace period. Begins one itself where many numbers wait for it. */
uint32_t numbers_take(struct numbers *numbers, struct memory *memory);
/* For a number that no reader has seen. */
void numbers_give(struct numbers *numbers, uint32_t number);
void numbers_retire(struct numbers *numbers, const struct memory *memory, uint32_t number);
/* 0: no memory. */
int numbers_grow(struct numbers *numbers, struct memory *memory, uint32_t capacity);
void numbers_destroy(struct numbers *numbers, struct memory *memory);

struct records {
	struct memory *memory;
	struct table *table;
	uint32_t own;
	uint64_t now_ns;	/* with own records: a new one has this time of last hit */
	uint32_t bytes;
	uint32_t stride;
	struct numbers numbers;	/* links: reference counts of shared records */
	struct numbers counter_indices;	/* links: the structure's notes, to find the entry of a counter index */
	uint32_t most;	/* record numbers that the structure has room for */
	uint64_t counter_indices_most;	/* UINT64_MAX: no limit */
	uint32_t *index;	/* shared records by content: open addressing, 0 is free */
	uint32_t index_mask;
	uint32_t index_count;
};

/* `most`: the largest number that a record may have; 0: any. */
enum table_status records_create(struct records *records, struct memory *memory, struct table *table, uint64_t size, uint32_t most);
void records_destroy(struct records *records);

/* Makes room in advance to find so many different records by their content. Pages of it that no record comes to stay untouched. */
enum table_status records_reserve(struct records *records, uint64_t count);

/* Of a shared record, for its position in the index. */
uint64_t records_hash(const struct records *records, const void *content);

/* Requests a shared record's position in the index (step 0), and the record that is there (step 1). */
void records_prefetch(const struct records *records, const void *content, uint32_t step);

/* A record with this content for one more entry, with a counter index of its own for own records. */
enum table_status records_add(struct records *records, const void *content, uint32_t *number);
/* A record with this content for the entry that has the record `old` and keeps its counter index. The caller then
 * retires `old` with `records_retire_modified`. */
enum table_status records_change(struct records *records, const void *content, uint32_t old, uint32_t *number);

/* An entry no longer uses this record. */
void records_retire(struct records *records, uint32_t number);
void records_retire_modified(struct records *records, uint32_t number);
/* Undoes `records_add`: no reader has seen the record. */
void records_cancel(struct records *records, uint32_t number);

void *records_at(const struct records *records, uint32_t number);
/* 0 for shared records. */
uint32_t records_counter_index(const struct records *records, uint32_t number);

#endif
