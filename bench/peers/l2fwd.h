/* l2fwd by hand: its tables as the host describes them, and its keys. A key is the address as a little-endian load has it, so that packets need no
 * swap of bytes; entries are swapped once, when they are written. */
#ifndef BACUS_PEER_L2FWD_H
#define BACUS_PEER_L2FWD_H

#include "peer.h"

enum { SMAC, DMAC, TABLES };

#define ETHERNET_BYTES 14u
#define MAC_MASK 0xffffffffffffull

struct dmac_record {
	uint32_t action;	/* 0: forward */
	uint16_t port;
	uint16_t unused;
};

static const struct key_field mac_fields[] = { { "address", 48, 0, MATCH_EXACT, NULL } };
static const struct parameter forward_parameters[] = { { "port", 9, offsetof(struct dmac_record, port), PARAMETER_NUMBER } };
static const struct action smac_actions[] = { { "NoAction", 0, NULL } };
static const struct action dmac_actions[] = { { "forward", 1, forward_parameters } };

static const struct table_descriptor tables[TABLES] = {
	[SMAC] = { .name = "smac", .structure = STRUCTURE_EXACT, .key_bits = 48, .key_limbs = 1, .field_count = 1, .fields = mac_fields,
		   .action_count = 1, .actions = smac_actions, .record_bytes = 8 },
	[DMAC] = { .name = "dmac", .structure = STRUCTURE_EXACT, .key_bits = 48, .key_limbs = 1, .field_count = 1, .fields = mac_fields,
		   .action_count = 1, .actions = dmac_actions, .record_bytes = sizeof(struct dmac_record), .source = 1 },
};

static inline uint64_t
mac_key(uint64_t address)
{
	return __builtin_bswap64(address << 16);
}

PEER_INLINE uint64_t
ethernet_dmac(const uint8_t *data)
{
	return load64(data) & MAC_MASK;
}

PEER_INLINE uint64_t
ethernet_smac(const uint8_t *data)
{
	return load64(data + 4) >> 16;
}

/* Sends a digest of an unknown source address, in the form that a control plane reads. */
static inline void
l2fwd_learn(struct worker *worker, const struct burst *burst, uint32_t i)
{
	const uint64_t values[2] = { mac_key(ethernet_smac(burst_data(burst, i))), burst->ports[i] };

	worker->shared->digest(worker, 0, values, 2);
}

#endif
