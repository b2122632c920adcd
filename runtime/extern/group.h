/* Multicast groups and mirror sessions by number: a small hash table that the control thread replaces as a whole.
 * It is complete before its address is stored (release), and freed when each worker has passed enough ends of
 * bursts. So a packet finds the members of one version, in whatever order they change. */
#ifndef BACUS_GROUP_H
#define BACUS_GROUP_H

#include "abi.h"

static inline uint64_t
group_hash(uint64_t number)
{
	return number * 0x9e3779b97f4a7c15ull >> 32;
}

/* The group, or NULL. `groups` is worker->shared->groups or ->sessions. */
static inline const struct group *
group_find(struct groups *_Atomic *groups, uint64_t number)
{
	const struct groups *table = groups != NULL ? __atomic_load_n((struct groups **)groups, __ATOMIC_ACQUIRE) : NULL;

	if (table == NULL)
		return NULL;
	for (uint64_t at = group_hash(number);; at++) {
		const struct group_slot *slot = &table->slots[at & table->mask];

		if (slot->group == NULL || slot->number == number)
			return slot->group;
	}
}

/* A selector's group with members; NULL: it has none. Two loads: the array of slots is replaced when it grows, a
 * slot's group when it changes. A group that shrinks is another one, so count and records belong together. */
static inline const struct selector_group *
selector_members(const struct selection *selection, uint32_t slot)
{
	const struct selector_group *const *groups = __atomic_load_n(&selection->groups, __ATOMIC_ACQUIRE);
	const struct selector_group *group = __atomic_load_n(&groups[slot], __ATOMIC_ACQUIRE);

	return group != NULL && group->count != 0 ? group : NULL;
}

/* The record of the member that the hash selects. `record_bytes` is that of the table. A 32-bit division
 * takes half the time of a 64-bit one. */
static inline const void *
selector_member(const struct selector_group *group, uint64_t hash, uint32_t record_bytes)
{
	const uint64_t member = hash <= UINT32_MAX ? (uint32_t)hash % group->count : hash % group->count;

	return group->records + (size_t)member * record_bytes;
}

/* For the control thread, which builds a new table: `mask + 1` is a power of two above the number of groups. 0: no free slot. */
static inline int
group_insert(struct groups *table, uint64_t number, const struct group *group)
{
	for (uint64_t probe = 0, at = group_hash(number); probe < table->mask; probe++, at++) {
		struct group_slot *slot = &table->slots[at & table->mask];

		if (slot->group == NULL || slot->number == number) {
			*slot = (struct group_slot){ .number = number, .group = group };
			return 1;
		}
	}
	return 0;
}

#endif
