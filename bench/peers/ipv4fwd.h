/* ipv4fwd by hand: its table as the host describes it, next hops as packets have them, and the meaning of the header checks. */
#ifndef BACUS_PEER_IPV4FWD_H
#define BACUS_PEER_IPV4FWD_H

#include "lpm.h"

struct route_record {
	uint32_t action;	/* 0: forward */
	uint16_t port;
	uint16_t unused;
	uint64_t dst;
	uint64_t src;
};

static const struct key_field route_fields[] = { { "dst", 32, 0, MATCH_LPM, NULL } };
static const struct parameter route_parameters[] = {
	{ "port", 9, offsetof(struct route_record, port), PARAMETER_NUMBER },
	{ "dst", 48, offsetof(struct route_record, dst), PARAMETER_NUMBER },
	{ "src", 48, offsetof(struct route_record, src), PARAMETER_NUMBER },
};
static const struct action route_actions[] = { { "forward", 3, route_parameters } };
static const struct table_descriptor tables[] __attribute__((unused)) = {
	{ .name = "routes", .structure = STRUCTURE_DIR24_8, .key_bits = 32, .key_limbs = 1, .field_count = 1, .fields = route_fields,
	  .action_count = 1, .actions = route_actions, .record_bytes = sizeof(struct route_record) },
};

/* What an action writes, laid out as the packet has it: one load, two stores. */
struct nexthop {
	_Alignas(16) uint8_t macs[12];
	uint16_t type;
	uint16_t port;
};

#define NEXTHOPS 254u

struct nexthops {
	struct nexthop records[NEXTHOPS];
	uint32_t count;
};

#define ETHERNET_BYTES 14u
#define IPV4_BYTES 20u
#define TYPE_IPV4 0x0008u	/* as loaded */

static inline void
mac_store(uint8_t *to, uint64_t address)
{
	for (uint32_t i = 0; i < 6; i++)
		to[i] = (uint8_t)(address >> (40 - 8 * i));
}

/* The number of a next hop; equal ones are one. */
static inline int
nexthop_number(struct nexthops *nexthops, const struct route_record *record)
{
	struct nexthop nexthop = { .type = TYPE_IPV4, .port = record->port };

	mac_store(nexthop.macs, record->dst);
	mac_store(nexthop.macs + 6, record->src);
	for (uint32_t i = 0; i < nexthops->count; i++)
		if (memcmp(&nexthops->records[i], &nexthop, sizeof(nexthop)) == 0)
			return (int)i;
	if (nexthops->count == NEXTHOPS)
		return -1;
	nexthops->records[nexthops->count] = nexthop;
	return (int)nexthops->count++;
}

/* The ones' complement sum of the header, folded to 16 bits; 0xffff when the checksum is right. Byte order cancels out. */
PEER_INLINE uint32_t
ipv4_sum(const uint8_t *header)
{
	uint64_t sum = load32(header + 16);

	sum += load64(header) >> 32;
	sum += load32(header);
	sum += load64(header + 8) >> 32;
	sum += load32(header + 8);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint32_t)((sum & 0xffff) + (sum >> 16));
}

/* The word of time to live, protocol and checksum as loaded, with one less to live (RFC 1624). */
PEER_INLINE uint32_t
ipv4_decrement(uint32_t word)
{
	const uint32_t checksum = (word >> 16) + 1;

	return ((word - 1) & 0xffff) | (checksum + (checksum >= 0xffff)) << 16;
}

/* Whether RFC 1812 (5.2.2, 5.3.1) lets the packet be forwarded. Options go to the slow path. */
PEER_INLINE uint32_t
ipv4_is_bad(const uint8_t *data, uint32_t length)
{
	const uint8_t *header = data + ETHERNET_BYTES;
	uint32_t total;

	if (length < ETHERNET_BYTES + IPV4_BYTES)
		return 1;
	total = __builtin_bswap16(load16(header + 2));
	return (load16(data + 12) != TYPE_IPV4) | (header[0] != 0x45) | (total < IPV4_BYTES) | (total > length - ETHERNET_BYTES) |
	       (ipv4_sum(header) != 0xffff) | (header[8] <= 1);
}

#endif
