/* ipv6fwd by hand: its table as the host describes it, and the meaning of the header checks. Next hops are as in ipv4fwd. */
#ifndef BACUS_PEER_IPV6FWD_H
#define BACUS_PEER_IPV6FWD_H

#include "ipv4fwd.h"

#define IPV6_BYTES 40u
#define IPV6_DST 24u
#define TYPE_IPV6 0xdd86u	/* as loaded */

static const struct key_field route6_fields[] = { { "dst", 128, 0, MATCH_LPM, NULL } };
static const struct table_descriptor tables6[] = {
	{ .name = "routes", .structure = STRUCTURE_LPM_TRIE, .key_bits = 128, .key_limbs = 2, .field_count = 1, .fields = route6_fields,
	  .action_count = 1, .actions = route_actions, .record_bytes = sizeof(struct route_record) },
};

PEER_INLINE uint32_t
ipv6_is_bad(const uint8_t *data, uint32_t length)
{
	const uint8_t *header = data + ETHERNET_BYTES;

	if (length < ETHERNET_BYTES + IPV6_BYTES)
		return 1;
	return (load16(data + 12) != TYPE_IPV6) | (header[0] >> 4 != 6) |
	       (__builtin_bswap16(load16(header + 4)) > length - ETHERNET_BYTES - IPV6_BYTES) | (header[7] <= 1);
}

#endif
