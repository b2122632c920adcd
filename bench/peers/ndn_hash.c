/* ndn by hand over DPDK's rte_hash with keys of 32 bytes, which are the names where packets have them: a burst at a time by its bulk lookup. */
#include "dpdk.h"

#include <rte_hash.h>
#include <rte_hash_crc.h>

#define NAME_BYTES 32u
#define ETHERNET_BYTES 14u
#define NAME_AT 18u
#define TYPE_NDN 0x2486u		/* these as loaded */
#define INTEREST 0x05u
#define NAME_TLV 0x2007u
#define NONCE_TLV 0x040au
#define HOP_LIMIT_TLV 0x0122u
#define CAN_BE_PREFIX_TLV 0x0021u
#define MUST_BE_FRESH_TLV 0x0012u
#define PARAMETERS_TYPE 0x24u
/* Name and nonce with their types and lengths, and the limit of a length of one byte. */
#define LEAST_BYTES 40u
#define MOST_BYTES 252u

struct name_record {
	uint32_t action;	/* 0: forward */
	uint16_t port;
	uint16_t unused;
};

static const struct key_field name_fields[] = { { "name", 8 * NAME_BYTES, 0, MATCH_EXACT, NULL } };
static const struct parameter name_parameters[] = { { "port", 9, offsetof(struct name_record, port), PARAMETER_NUMBER } };
static const struct action name_actions[] = { { "forward", 1, name_parameters } };
static const struct table_descriptor tables[] = {
	{ .name = "names", .structure = STRUCTURE_EXACT, .key_bits = 8 * NAME_BYTES, .key_limbs = NAME_BYTES / 8, .field_count = 1,
	  .fields = name_fields, .action_count = 1, .actions = name_actions, .record_bytes = sizeof(struct name_record) },
};

static struct rte_hash *names;

static int
ndn_open(uint64_t entries)
{
	char name[32];
	const struct rte_hash_parameters parameters = {
		.name = peer_name(name, sizeof(name), "names"), .entries = peer_hash_slots(entries), .key_len = NAME_BYTES,
		.hash_func = rte_hash_crc, .socket_id = peer_heap(peer_hash_bytes(entries, NAME_BYTES)),
	};

	names = rte_hash_create(&parameters);
	return names == NULL ? peer_fail("rte_hash_create") : 0;
}

static int
ndn_insert(uint32_t table, const struct table_match *match, const void *record)
{
	const struct name_record *forward = record;
	uint64_t key[NAME_BYTES / 8];

	(void)table;
	for (uint32_t i = 0; i < NAME_BYTES / 8; i++)
		key[i] = __builtin_bswap64(match->value[NAME_BYTES / 8 - 1 - i]);
	return rte_hash_add_key_data(names, key, (void *)(uintptr_t)forward->port);
}

static int
ndn_ready(void)
{
	return 0;
}

const struct peer bacus_peer = { ndn_open, ndn_insert, ndn_ready };

/* Where the hop limit is, 0 if there is none, or -1 for what is no interest or may go no further. */
static int __attribute__((noinline))
ndn_parse(const uint8_t *data, uint32_t length)
{
	uint32_t at = NAME_AT + NAME_BYTES, rest;

	if (length < at + 2 || load16(data + 12) != TYPE_NDN || data[14] != INTEREST || load16(data + 16) != NAME_TLV)
		return -1;
	if (data[15] < LEAST_BYTES || data[15] > MOST_BYTES)
		return -1;
	rest = data[15] - LEAST_BYTES;
	if (load16(data + at) == CAN_BE_PREFIX_TLV) {
		if (rest < 2 || length < at + 4)
			return -1;
		rest -= 2;
		at += 2;
	}
	if (load16(data + at) == MUST_BE_FRESH_TLV) {
		if (rest < 2)
			return -1;
		rest -= 2;
		at += 2;
	}
	if (length < at + 6 || load16(data + at) != NONCE_TLV)
		return -1;
	at += 6;
	if (rest == 0)
		return 0;
	if (length < at + 2)
		return -1;
	if (data[at] == PARAMETERS_TYPE)
		return 0;
	if (load16(data + at) != HOP_LIMIT_TLV || rest < 3 || length < at + 3 || data[at + 2] <= 1)
		return -1;
	return (int)at + 2;
}

/* As `ndn_parse`; an interest with a nonce and a hop limit, and nothing else before them, needs five comparisons. */
PEER_INLINE int
ndn_hop_limit(const uint8_t *data, uint32_t length)
{
	const uint32_t at = NAME_AT + NAME_BYTES;
	const uint32_t expected = (load32(data + 12) == (TYPE_NDN | INTEREST << 16 | (LEAST_BYTES + 3) << 24)) & (load16(data + 16) == NAME_TLV) &
			       (load16(data + at) == NONCE_TLV) & (load16(data + at + 6) == HOP_LIMIT_TLV) & (data[at + 8] > 1) &
			       (length >= at + 9);

	return __builtin_expect(expected, 1) ? (int)at + 8 : ndn_parse(data, length);
}

PEER_INLINE void
ndn_burst(struct worker *worker, struct burst *burst, const uint32_t count)
{
	const void *keys[PEER_BURST];
	void *found[PEER_BURST];
	int hop_limit[PEER_BURST];
	uint8_t bad[PEER_BURST];
	uint16_t ports[PEER_BURST];
	uint64_t hits = 0;
	uint32_t any_bad = 0;

	for (uint32_t i = 0; i < count; i++) {
		keys[i] = burst_data(burst, i) + NAME_AT;
		hop_limit[i] = ndn_hop_limit(burst_data(burst, i), burst_length(burst, i));
	}
	rte_hash_lookup_bulk_data(names, keys, count, &hits, found);
	for (uint32_t i = 0; i < count; i++) {
		bad[i] = hop_limit[i] < 0 || !(hits >> i & 1);
		any_bad |= bad[i];
		ports[i] = (uint16_t)(uintptr_t)found[i];
		if (!bad[i] && hop_limit[i] > 0)
			burst_data(burst, i)[hop_limit[i]]--;
	}
	if (__builtin_expect(any_bad, 0))
		burst_split(worker, burst, ports, bad);
	else
		burst_send(worker, burst, ports, count);
}

static void
process(struct worker *worker, struct burst *burst)
{
	if (burst->count != 0)
		PEER_COUNTS(burst->count, ndn_burst, worker, burst);
}

PEER_PIPELINE("ndn by hand over rte_hash", tables, process);
