/* A table structure's interface to the writer: the functions behind those of writer.h, with normalised matches
 * and numbered records. Structures publish changes; the writer retires what was replaced. All functions run on
 * the control thread, or on a worker in its own insertion, under the table's lock. None is called while another
 * of the same array runs. */
#ifndef BACUS_TABLE_LAYOUT_H
#define BACUS_TABLE_LAYOUT_H

#include "table/records.h"

/* A match, complete and with nothing outside the key. */
struct layout_match {
	uint64_t *value;
	uint64_t *mask;
	uint64_t *high;
	uint32_t priority;
	uint32_t length;	/* of the prefix, for lpm */
};

/* What every structure starts with. `table` is what readers get, once and for ever: a structure that grows
 * changes what the table points to. */
struct layout {
	const struct layout_functions *functions;
	struct memory *memory;
	struct records *records;
	struct table *table;	/* the part that readers see */
	uint32_t key_bits;
	uint32_t limbs;
	uint64_t size;
};

struct layout_functions {
	/* No entry with this match exists. `record` is complete; the store that publishes the entry has release
	 * order. */
	enum table_status (*insert)(struct layout *layout, const struct layout_match *match, uint32_t record);
	/* The entry's record number, or 0. */
	uint32_t (*find)(const struct layout *layout, const struct layout_match *match);
	/* The entry exists. */
	void (*modify)(struct layout *layout, const struct layout_match *match, uint32_t record);
	/* The entry exists; fails only for lack of memory, and then it is still there. */
	enum table_status (*remove)(struct layout *layout, const struct layout_match *match);
	/* Continues from a cursor and fills `match` and `record`; 0 at the end. */
	uint64_t (*next)(const struct layout *layout, uint64_t cursor, struct layout_match *match, uint32_t *record);
	/* The entry by the note that the structure made for its counter index; 0 if a note is stale, as that of a free
	 * counter index may be. */
	int (*locate)(const struct layout *layout, uint32_t note, struct layout_match *match, uint32_t *record);
	uint32_t (*lookup)(const struct layout *layout, const uint64_t *key);
	enum table_status (*reserve)(struct layout *layout, uint64_t entries);
	/* Requests what an insertion of the match reads first (step 0), and what it finds there (step 1, some time later). NULL: nothing to gain. */
	void (*prefetch)(const struct layout *layout, const struct layout_match *match, uint32_t step);
	/* Brings the structure into its fastest form. NULL: it always is. */
	void (*compact)(struct layout *layout);
	void (*destroy)(struct layout *layout);
};

/* Constructors: `table` is embedded for readers. NULL: no memory, or not for this key. Range fields: for
 * lists. */
struct layout_request {
	struct memory *memory;
	struct records *records;
	const struct table_descriptor *descriptor;
	struct layout *primary;	/* the primary of a joint array; NULL: an array of its own */
	const uint64_t *ranges;	/* for lists: each range field as a mask; the writer's */
	uint32_t range_count;
};

static inline struct layout
layout_begin(const struct layout_request *request, const struct layout_functions *functions)
{
	return (struct layout){
		.functions = functions, .memory = request->memory, .records = request->records, .key_bits = request->descriptor->key_bits,
		.limbs = request->descriptor->key_limbs, .size = request->descriptor->size,
	};
}

struct layout *exact_create(const struct layout_request *request);
struct layout *exact48_create(const struct layout_request *request);
struct layout *exact60_create(const struct layout_request *request);
struct layout *dir24_8_create(const struct layout_request *request);
struct layout *lpm_trie_create(const struct layout_request *request);
struct layout *list_create(const struct layout_request *request);
struct layout *direct_create(const struct layout_request *request);
struct layout *compare_create(const struct layout_request *request);
struct layout *scan_create(const struct layout_request *request);
struct layout *bit_vector_create(const struct layout_request *request);
struct layout *btree_create(const struct layout_request *request);
struct layout *tuple_space_create(const struct layout_request *request);
struct layout *perfect_create(const struct layout_request *request);

#endif
