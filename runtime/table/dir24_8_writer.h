/* Interface between the parts of dir24_8's writer: dir24_8.c knows prefixes, dir24_8_groups.c the groups for
 * prefixes longer than 24 bits, dir24_8_links.c the link table for entries of one byte.
 *
 * Entries here are in the form of four bytes: a record number, or a group's with DIR24_8_GROUP.
 * `dir24_8_get`, `dir24_8_set_record` and `dir24_8_set_group` convert to the width in memory. */
#ifndef BACUS_TABLE_DIR24_8_WRITER_H
#define BACUS_TABLE_DIR24_8_WRITER_H

#include "table/dir24_8.h"
#include "table/layout.h"
#include "table/rules.h"

/* Entries of one width. */
struct dir24_8_form {
	uint32_t entry_bytes;
	uint32_t ends;		/* in the line of a group */
	uint32_t pieces;
	uint32_t numbers_most;	/* of groups, from 1 on */
};

struct dir24_8_writer {
	struct layout layout;
	struct dir24_8 *dir;
	const struct dir24_8_form *form;
	struct rules rules;		/* a prefix's value; its length as priority */
	uint32_t per_length[33];	/* prefixes */
	uint8_t *lengths;	/* by entry of the first array: length of the owner, plus one; 0: none */
	uint8_t *group_lengths;
	uint32_t *deep;	/* by group: the number of prefixes in it */
	struct numbers groups;
	uint32_t group_count;		/* in use */
	uint32_t link_count;	/* used slots of links, including those of retired groups */
};

/* Gives entries to another owner, if their owner's length (plus one) is in a range.
 *
 *    insert prefix of length n    least 0        most n + 1     owner n + 1
 *    delete it                    least n + 1    most n + 1     owner: the next shorter one's, or 0
 *    modify it                    as insert: all that it owns get the new record
 */
struct dir24_8_change {
	uint64_t value;
	uint32_t length;
	uint8_t least;
	uint8_t most;
	uint8_t owner;
	uint32_t record;
};

/* Entries of the first array or of a group, with their owners' lengths. */
struct dir24_8_span {
	void *entries;
	uint64_t from;
	uint8_t *lengths;	/* of the first entry */
	uint64_t count;
};

static inline uint64_t
dir24_8_group_entries(const struct dir24_8_writer *writer)
{
	return (uint64_t)1 << writer->dir->rest_bits;
}

static inline uint64_t
dir24_8_first_entries(const struct dir24_8_writer *writer)
{
	return (uint64_t)1 << (writer->layout.key_bits - writer->dir->rest_bits);
}

/* Whether prefixes of this length need groups. */
static inline int
dir24_8_is_deep(const struct dir24_8_writer *writer, uint32_t length)
{
	return length > writer->layout.key_bits - writer->dir->rest_bits;
}

/* An entry of the first array. */
uint32_t dir24_8_get(const struct dir24_8_writer *writer, uint64_t at);
void dir24_8_set_record(const struct dir24_8_writer *writer, void *entries, uint64_t at, uint32_t record);
void dir24_8_set_group(struct dir24_8_writer *writer, uint64_t at, uint32_t group);
void dir24_8_change_span(const struct dir24_8_writer *writer, struct dir24_8_span span, const struct dir24_8_change *change);

/* Ensures room for one more group, so that `dir24_8_split` succeeds. `dir24_8_replace` always does. */
enum table_status dir24_8_groups_ready(struct dir24_8_writer *writer);

/* Changes an entry of the first array from a record to a group with that record everywhere, before the first
 * long prefix is added to it. */
void dir24_8_split(struct dir24_8_writer *writer, uint64_t at, const struct dir24_8_change *change);

/* Replaces the group of an entry of the first array by a changed copy, if it changes. */
void dir24_8_replace(struct dir24_8_writer *writer, uint64_t at, const struct dir24_8_change *change);

/* Replaces a group without prefixes by a record. */
void dir24_8_unite(struct dir24_8_writer *writer, uint64_t at, uint8_t owner, uint32_t record);

/* With entries of one byte: ensures room for one more link, so that `dir24_8_link` succeeds. */
enum table_status dir24_8_links_ready(struct dir24_8_writer *writer);
void dir24_8_link(struct dir24_8_writer *writer, uint64_t at, uint32_t group);
void dir24_8_links_destroy(struct dir24_8_writer *writer);

void dir24_8_groups_destroy(struct dir24_8_writer *writer);

#endif
