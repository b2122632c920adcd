/* apps/l2fwd as a careful person writes it: packet by packet, over the same tables and the same interface as the compiler's output, so that the
 * plain plan has something honest to be compared with. */
#include "abi.h"
#include "bits.h"
#include "packet/own.h"
#include "table/exact.h"

enum { SMAC, DMAC, TABLES };
enum { SMAC_NOTHING, SMAC_LEARN };
enum { DMAC_FORWARD, DMAC_DROP };
enum { DROP_UNKNOWN = 7, DROPS };

#define ETHERNET_BYTES 14u
#define BURST 256u

struct smac_record {
	uint32_t action;
	uint32_t unused;
};

struct dmac_record {
	uint32_t action;
	uint16_t port;
	uint16_t unused;
};

static uint32_t
mac_find(const struct exact *table, uint64_t address)
{
	const uint64_t hash = exact_hash(table, &address, 1);

	return exact_find(table, exact_address(table, hash), hash, &address, 1);
}

static void
report(struct worker *worker, uint64_t address, uint16_t port)
{
	const uint64_t values[2] = { address, port };

	worker->shared->digest(worker, 0, values, 2);
}

static void
process(struct worker *worker, struct burst *burst)
{
	const struct exact *smac = worker->shared->tables[SMAC], *dmac = worker->shared->tables[DMAC];
	uint64_t smac_hits = 0, dmac_hits = 0, dropped = 0, looked_up = 0;

	for (uint32_t i = 0; i < burst->count; i++) {
		const struct packet packet = packet_take(burst, i);
		const uint8_t *data = packet_data(&packet);
		const struct dmac_record *record;
		uint32_t found;

		if (packet_length(&packet) < ETHERNET_BYTES) {
			dropped++;
			packet_drop(worker, &packet);
			continue;
		}
		looked_up++;
		found = mac_find(smac, bits_load64(data + 4) & bits_mask(48));
		smac_hits += found != 0;
		if (found == 0)
			report(worker, bits_load64(data + 4) & bits_mask(48), burst->ports[i]);
		found = mac_find(dmac, bits_load64(data) >> 16);
		dmac_hits += found != 0;
		record = table_record_at(&dmac->table, found, sizeof(*record));
		if (record->action == DMAC_FORWARD) {
			packet_send(worker, &packet, record->port);
		} else {
			dropped++;
			packet_drop(worker, &packet);
		}
	}
	worker->packet_number += burst->count;
	worker->hits[SMAC] += smac_hits;
	worker->misses[SMAC] += looked_up - smac_hits;
	worker->hits[DMAC] += dmac_hits;
	worker->misses[DMAC] += looked_up - dmac_hits;
	worker->drops[DROP_UNKNOWN] += dropped;
}

static int
attach(struct worker *worker)
{
	(void)worker;
	return 0;
}

static void
detach(struct worker *worker)
{
	(void)worker;
}

static const struct key_field smac_fields[] = { { "hdr.ethernet.src", 48, 0, MATCH_EXACT, NULL } };
static const struct key_field dmac_fields[] = { { "hdr.ethernet.dst", 48, 0, MATCH_EXACT, NULL } };
static const struct parameter forward_parameters[] = { { "port", 9, offsetof(struct dmac_record, port), PARAMETER_NUMBER } };
static const struct action smac_actions[] = { { "NoAction", 0, NULL }, { "Bridge.learn", 0, NULL } };
static const struct action dmac_actions[] = { { "Bridge.forward", 1, forward_parameters }, { "Bridge.drop", 0, NULL } };

static const struct table_descriptor tables[TABLES] = {
	[SMAC] = { .name = "Bridge.smac", .structure = STRUCTURE_EXACT, .key_bits = 48, .key_limbs = 1, .field_count = 1, .fields = smac_fields,
		   .action_count = 2, .actions = smac_actions, .record_bytes = sizeof(struct smac_record) },
	[DMAC] = { .name = "Bridge.dmac", .structure = STRUCTURE_EXACT, .key_bits = 48, .key_limbs = 1, .field_count = 1, .fields = dmac_fields,
		   .action_count = 2, .actions = dmac_actions, .record_bytes = sizeof(struct dmac_record), .source = 1 },
};

static const char *const drops[DROPS] = {
	"re-entry budget", "parser budget", "loop budget", "no such port", "empty multicast group", "no headroom", "segmented packet", "unknown station",
};

const struct pipeline bacus_pipeline = {
	.version = ABI_VERSION,
	.descriptor = DESCRIPTOR_OWN,
	.layout = ABI_LAYOUT,
	.program = "l2fwd by hand",
	.burst = BURST,
	.table_count = TABLES,
	.tables = tables,
	.drop_count = DROPS,
	.drops = drops,
	.worker_bytes = 64,
	.attach = attach,
	.detach = detach,
	.process = process,
};
