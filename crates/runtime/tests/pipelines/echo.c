/* A pipeline written by hand: sends every packet back by the port it came in on, with its first byte changed; drops runts.
 * A table that it may fill itself, a counter and a register, so that a host has something to make, keep and exchange. */
#include "abi.h"

#ifdef ECHO_MBUF
#include "packet/mbuf.h"
#else
#include "packet/own.h"
#endif

#ifndef ECHO_MARK
#define ECHO_MARK 0x11
#endif

#ifndef ECHO_STATIONS
#define ECHO_STATIONS 64
#endif

/* A worker from this number on is refused. */
#ifndef ECHO_WORKERS
#define ECHO_WORKERS UINT32_MAX
#endif

#define RUNT_BYTES 14u

static const struct parameter set_parameters[] = { { "port", 9, 4, PARAMETER_NUMBER } };
static const struct action actions[] = { { "NoAction", 0, NULL }, { "set", 1, set_parameters } };
static const struct key_field station_key[] = { { "address", 48, 0, MATCH_EXACT, NULL } };
static const struct table_descriptor tables[] = {
	{
		.name = "hosts", .structure = STRUCTURE_EXACT, .key_bits = 48, .key_limbs = 1, .field_count = 1, .fields = station_key,
		.action_count = 2, .actions = actions, .record_bytes = 8, .size = ECHO_STATIONS,
	},
};
static const struct counter_descriptor counters[] = { { "frames", 4, 0 } };
static const uint64_t seven[] = { 7 };
static const struct register_descriptor registers[] = { { "last", 2, 16, 2, seven } };
static const char *const drops[] = { "re-entry budget", "runt" };

/* Bytes 6 to 11 and where they came from become an entry. */
static void
learn(struct worker *worker, const uint8_t *data, uint16_t port)
{
	const uint32_t record[2] = { 1, port };
	uint64_t key = 0;

	memcpy(&key, data + 6, 6);
	if (worker->shared->insert(worker, 0, &key, record, 0) == 0)
		worker->counters[0][1].packets++;
}

/* What the control plane is notified of; with ECHO_NOTIFY of each. */
static void
notify(struct worker *worker, uint32_t length)
{
	const uint64_t values[3] = { worker->packet_number, length, 1 };
	const uint32_t widths[2] = { 64, 65 };

	worker->shared->digest(worker, 3, values, 2);
	worker->shared->log(worker, "packet {}: {} bytes", values, widths, 2);
	if (length == 100)
		worker->shared->fail(worker, "a length is odd");
}

/* A packet whose second byte is this goes to the control plane, and leaves when it is back. */
#define PUNTED 0xee

struct saved {
	uint64_t number;
	uint16_t port;
};

static void
punt(struct worker *worker, struct packet *packet, uint16_t port)
{
	const struct saved saved = { worker->packet_number, port };

	worker->shared->punt(worker, packet_store(packet), (uint16_t)packet_length(packet), &saved, sizeof(saved), 1);
	packet_drop(worker, packet);
}

static int
attach(struct worker *worker)
{
	return worker->id < ECHO_WORKERS ? 0 : 7;
}

static void
detach(struct worker *worker)
{
	(void)worker;
}

static void
process(struct worker *worker, struct burst *burst)
{
	struct counter_element *element = &worker->counters[0][0];

	for (uint32_t i = 0; i < burst->count; i++) {
		struct packet packet = packet_take(burst, i);

		worker->packet_number++;
		if (packet_length(&packet) < RUNT_BYTES) {
			worker->drops[1]++;
			packet_drop(worker, &packet);
			continue;
		}
#ifdef ECHO_NOTIFY
		notify(worker, (uint32_t)packet_length(&packet));
#else
		(void)notify;
#endif
		if (packet_data(&packet)[1] == PUNTED) {
			punt(worker, &packet, burst->ports[i]);
			continue;
		}
#ifdef ECHO_LEARN
		learn(worker, packet_data(&packet), burst->ports[i]);
#else
		(void)learn;
#endif
		packet_data(&packet)[0] = ECHO_MARK;
		element->packets++;
		element->bytes += packet_length(&packet);
		packet_send(worker, &packet, burst->ports[i]);
	}
}

static void
resume(struct worker *worker, void *packet, uint16_t length, const void *saved, uint32_t node)
{
	struct packet returned = packet_from(packet, length);
	const struct saved *state = saved;

	packet_data(&returned)[0] = (uint8_t)state->number;
	packet_data(&returned)[1] = (uint8_t)node;
	packet_send(worker, &returned, state->port);
}

extern const struct pipeline bacus_pipeline;
const struct pipeline bacus_pipeline = {
	.version = ABI_VERSION,
	.layout = ABI_LAYOUT,
	.descriptor = PACKET_DESCRIPTOR,
	.program = "echo",
	.burst = 32,
	.table_count = 1,
	.tables = tables,
	.counter_count = 1,
	.counters = counters,
	.register_count = 1,
	.registers = registers,
	.drop_count = 2,
	.drops = drops,
	.saved_bytes = sizeof(struct saved),
	.worker_bytes = 64,
	.attach = attach,
	.detach = detach,
	.process = process,
	.resume = resume,
};
