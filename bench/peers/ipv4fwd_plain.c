/* apps/ipv4fwd as a careful person writes it: packet by packet, over the same tables and the same interface as the compiler's output, with every
 * check of RFC 1812 and the checksum verified. */
#include "abi.h"
#include "bits.h"
#include "packet/own.h"
#include "table/dir24_8.h"

enum { ROUTES_FORWARD, ROUTES_NO_ROUTE };
enum { DROP_NOT_FORWARDED = 7, DROPS };
enum reason { SHORT, NOT_IPV4, HEADER, CHECKSUM, TTL, NO_ROUTE, FORWARDED };

#define ETHERNET_BYTES 14u
#define IPV4_BYTES 20u
#define TYPE_IPV4 0x0800u
#define BURST 256u

struct route_record {
	uint32_t action;
	uint16_t port;
	uint16_t unused;
	uint64_t dst;
	uint64_t src;
};

/* The ones' complement sum of the header: 0xffff when its checksum is right. Byte order cancels out. */
static uint32_t
ipv4_sum(const uint8_t *header)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < IPV4_BYTES; i += 4)
		sum += bits_load32(header + i);
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint32_t)((sum & 0xffff) + (sum >> 16));
}

static enum reason
check(const uint8_t *data, uint32_t length)
{
	const uint8_t *header = data + ETHERNET_BYTES;

	if (length < ETHERNET_BYTES)
		return SHORT;
	if (bits_load16(data + 12) != TYPE_IPV4)
		return NOT_IPV4;
	if (length < ETHERNET_BYTES + IPV4_BYTES)
		return SHORT;
	if (header[0] != 0x45 || bits_load16(header + 2) < IPV4_BYTES || bits_load16(header + 2) > length - ETHERNET_BYTES)
		return HEADER;
	if (ipv4_sum(header) != 0xffff)
		return CHECKSUM;
	return header[8] <= 1 ? TTL : FORWARDED;
}

static void
rewrite(uint8_t *data, const struct route_record *record)
{
	uint8_t *header = data + ETHERNET_BYTES;
	const uint32_t sum = (uint32_t)bits_load16(header + 10) + 0x100;

	bits_store_bytes(data, 6, record->dst);
	bits_store_bytes(data + 6, 6, record->src);
	header[8]--;
	bits_store16(header + 10, sum >= 0xffff ? sum + 1 : sum);
}

static void
process(struct worker *worker, struct burst *burst)
{
	const struct dir24_8 *routes = worker->shared->tables[0];
	struct counter_element *dropped = worker->counters[0];
	uint64_t hits = 0, misses = 0, drops = 0;

	for (uint32_t i = 0; i < burst->count; i++) {
		const struct packet packet = packet_take(burst, i);
		uint8_t *data = packet_data(&packet);
		enum reason reason = check(data, packet_length(&packet));

		if (reason == FORWARDED) {
			const uint64_t dst = bits_load32(data + ETHERNET_BYTES + 16);
			const uint32_t found = dir24_8_find(routes, dir24_8_address(routes, dst), dst, &dst, 1);
			const struct route_record *record = table_record_at(&routes->table, found, sizeof(*record));

			hits += found != 0;
			misses += found == 0;
			if (record->action == ROUTES_FORWARD) {
				rewrite(data, record);
				packet_send(worker, &packet, record->port);
				continue;
			}
			reason = NO_ROUTE;
		}
		dropped[reason].packets++;
		drops++;
		packet_drop(worker, &packet);
	}
	worker->packet_number += burst->count;
	worker->hits[0] += hits;
	worker->misses[0] += misses;
	worker->drops[DROP_NOT_FORWARDED] += drops;
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

static const struct key_field fields[] = { { "hdr.ipv4.dst", 32, 0, MATCH_LPM, NULL } };
static const struct parameter forward_parameters[] = {
	{ "port", 9, offsetof(struct route_record, port), PARAMETER_NUMBER },
	{ "dst", 48, offsetof(struct route_record, dst), PARAMETER_NUMBER },
	{ "src", 48, offsetof(struct route_record, src), PARAMETER_NUMBER },
};
static const struct action actions[] = { { "Router.forward", 3, forward_parameters }, { "Router.no_route", 0, NULL } };

static const struct table_descriptor tables[] = {
	{ .name = "Router.routes", .structure = STRUCTURE_DIR24_8, .key_bits = 32, .key_limbs = 1, .field_count = 1, .fields = fields,
	  .action_count = 2, .actions = actions, .record_bytes = sizeof(struct route_record) },
};

static const struct counter_descriptor counters[] = { { "Router.dropped", 6, 0 } };

static const char *const drops[DROPS] = {
	"re-entry budget", "parser budget", "loop budget", "no such port", "empty multicast group", "no headroom", "segmented packet", "not forwarded",
};

const struct pipeline bacus_pipeline = {
	.version = ABI_VERSION,
	.descriptor = DESCRIPTOR_OWN,
	.layout = ABI_LAYOUT,
	.program = "ipv4fwd by hand",
	.burst = BURST,
	.table_count = 1,
	.tables = tables,
	.counter_count = 1,
	.counters = counters,
	.drop_count = DROPS,
	.drops = drops,
	.worker_bytes = 64,
	.attach = attach,
	.detach = detach,
	.process = process,
};
