/* Look-ups of a group of packets at once. A structure that has more to gain from that than from the same steps packet by packet has a function
 * `NAME_find_group`: rules against several keys at a time, a tree level by level, what needs a second line after all that need one.
 *
 * Keys and hashes are known. Everything is a literal or a local of the caller's where this is inlined, so what is not used costs nothing. */
#ifndef BACUS_TABLE_GROUP_H
#define BACUS_TABLE_GROUP_H

#include <stddef.h>
#include <stdint.h>

#define TABLE_GROUP_MOST 64u	/* packets */

struct table_group {
	uint32_t count;
	uint32_t limbs;			/* of a key */
	uint32_t form;			/* of a key, for scan.h: its `scan_form`, or 0 */
	const uint64_t *keys;
	const uint64_t *hashes;
	const void *const *addresses;	/* NULL: they are of a time before the last grace period, and must be computed anew */
	uint32_t *found;		/* numbers of records */
	uint32_t found_stride;		/* from one packet's to the next's */
	/* Lines of a newer group: one is requested with each that this group consumes. NULL: none. */
	const void *const *requests;
	uint32_t request_count;
	uint32_t request_far;		/* 1: into the second-level cache */
};

/* What each look-up does for the newer group. */
static inline __attribute__((always_inline)) void
table_group_request(const struct table_group *group, uint32_t i)
{
	if (group->requests == NULL || i >= group->request_count)
		return;
	if (group->request_far)
		__builtin_prefetch(group->requests[i], 0, 2);
	else
		__builtin_prefetch(group->requests[i], 0, 3);
}

/* The newer group has more packets than this one. */
static inline __attribute__((always_inline)) void
table_group_request_rest(const struct table_group *group)
{
	for (uint32_t i = group->count; group->requests != NULL && i < group->request_count; i++)
		table_group_request(group, i);
}

/* `NAME_find_group` of a structure whose keys are in one of two lines: all first ones, then the second ones of the keys that were not there. Where these are
 * `MANY`, their lines are asked for before; two or three in a group are on their way at once in any case. The array is taken once: where addresses are
 * computed here, all are of the same one, and `NAME_find_second` notices a newer one. The functions that it takes are those below. */
#define TABLE_GROUP_OF_TWO(NAME, MANY)                                                                                                              \
	static inline __attribute__((always_inline)) const void *                                                                                   \
	NAME##_group_address(const struct NAME##_array *array, const struct table_group *group, uint32_t i)                                         \
	{                                                                                                                                           \
		return group->addresses != NULL ? group->addresses[i] : NAME##_first(array, group->hashes[i]);                                      \
	}                                                                                                                                           \
                                                                                                                                                    \
	static inline __attribute__((always_inline)) void                                                                                           \
	NAME##_find_group(const struct NAME *table, const struct table_group *group)                                                                \
	{                                                                                                                                           \
		const struct NAME##_array *array = NAME##_array(table);                                                                             \
		const uint32_t limbs = group->limbs, stride = group->found_stride;                                                                  \
		uint32_t missed[TABLE_GROUP_MOST + 1], missed_count = 0;                                                                            \
                                                                                                                                                    \
		for (uint32_t i = 0; i < group->count; i++) {                                                                                       \
			const uint64_t *key = group->keys + (size_t)i * limbs;                                                                      \
			const uint32_t found = NAME##_find_in(table, NAME##_group_address(array, group, i), group->hashes[i], key, limbs);          \
                                                                                                                                                    \
			table_group_request(group, i);                                                                                              \
			group->found[i * stride] = found;                                                                                           \
			missed[missed_count] = i;                                                                                                   \
			missed_count += found == 0;                                                                                                 \
		}                                                                                                                                   \
		table_group_request_rest(group);                                                                                                    \
		for (uint32_t i = 0; (MANY) && i < missed_count; i++) {                                                                             \
			const uint32_t at = missed[i];                                                                                              \
                                                                                                                                                    \
			__builtin_prefetch(NAME##_address_second(table, group->hashes[at], group->keys + (size_t)at * limbs));                      \
		}                                                                                                                                   \
		for (uint32_t i = 0; i < missed_count; i++) {                                                                                       \
			const uint32_t at = missed[i];                                                                                              \
			const void *address = NAME##_group_address(array, group, at);                                                               \
                                                                                                                                                    \
			group->found[at * stride] = NAME##_find_second(table, address, group->hashes[at], group->keys + (size_t)at * limbs, limbs); \
		}                                                                                                                                   \
	}

#endif
