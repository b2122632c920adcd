/* Routes in an rte_lpm, and their lookup four at a time. */
#ifndef BACUS_PEER_LPM_DPDK_H
#define BACUS_PEER_LPM_DPDK_H

#include "dpdk.h"
#include "lpm.h"

#include <rte_lpm.h>
#include <rte_vect.h>

/* What an rte_lpm takes, with room for 200,000 groups of longer prefixes. */
#define LPM_BYTES ((size_t)300 << 20)

/* rte_lpm_add is linear in the routes of a length, so its public tables are filled as it would fill them. */
static inline struct rte_lpm *
lpm_copy(const struct lpm *all, int socket)
{
	struct rte_lpm_config config = { .max_rules = 1024, .number_tbl8s = all->deeper_count + 16 };
	char name[32];
	struct rte_lpm *lpm = rte_lpm_create(peer_name(name, sizeof(name), "lpm"), socket, &config);

	if (lpm == NULL) {
		(void)peer_fail("rte_lpm_create");
		return NULL;
	}
	for (uint32_t block = 0; block < 1u << 24; block++) {
		const uint32_t nexthop = all->blocks[block];
		struct rte_lpm_tbl_entry entry = { .valid = nexthop != LPM_MISS, .next_hop = nexthop };

		if (nexthop == LPM_DEEPER) {
			entry.valid_group = 1;
			entry.next_hop = lpm_leaf_block(all, block) & 0xffffff;
		}
		lpm->tbl24[block] = entry;
	}
	for (uint32_t i = 0; i < all->deeper_count * 256; i++)
		lpm->tbl8[i] =
			(struct rte_lpm_tbl_entry){ .valid = all->leaves[i] != LPM_MISS, .valid_group = 1, .next_hop = all->leaves[i] };
	return lpm;
}

/* Addresses as packets have them, aligned to 16 bytes, padded to a multiple of four. */
PEER_INLINE void
lpm_find_bulk(const struct rte_lpm *lpm, const uint32_t *address, uint32_t *nexthop, const uint32_t count)
{
	const __m128i swap = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);

	for (uint32_t i = 0; i < count; i += 4) {
		const __m128i four = _mm_shuffle_epi8(_mm_load_si128((const void *)&address[i]), swap);

		rte_lpm_lookupx4(lpm, four, &nexthop[i], LPM_MISS);
	}
}

#endif
