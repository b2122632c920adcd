/* Multicast groups and mirror sessions, found by number. The host replaces the whole table; who reads holds it until the end of the burst. */
#ifndef BACUS_GROUPS_H
#define BACUS_GROUPS_H

#include <stdatomic.h>

#include "abi.h"

/* Where the search for `number` begins; the host fills the table by the same rule, and always leaves a slot free. */
static inline uint32_t
group_slot(uint64_t number, uint32_t mask)
{
	return (uint32_t)(number * 0x9e3779b97f4a7c15ull >> 32) & mask;
}

/* NULL if there is no such group. */
static inline const struct group *
group_find(struct groups *_Atomic *table, uint64_t number)
{
	const struct groups *groups = atomic_load_explicit(table, memory_order_acquire);

	for (uint32_t i = group_slot(number, groups->mask);; i = (i + 1) & groups->mask) {
		const struct group_slot *slot = &groups->slots[i];

		if (slot->group == NULL || slot->number == number)
			return slot->group;
	}
}

#endif
