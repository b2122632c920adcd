/* An echo that is given work: each packet leaves by the port it came by, after the core was kept busy for so many ticks per packet.
 *
 * The clock ends the work, so a core is kept as long on every machine, and nothing else can be done meanwhile. A burst has it in one piece, since
 * reading the clock costs more than an echo's packet; what the work came to is counted, as it takes a little longer than it was meant to. Work that
 * took twice as long was interrupted, which is not the program's doing. */
#include <string.h>

#include "abi.h"
#ifdef BUSY_MBUF
#include "packet/mbuf.h"
#else
#include "packet/own.h"
#endif

#define BURST 256u

/* Elements of the register: ticks of work for each packet, ticks that it took so far, and packets. */
enum busy { BUSY_WANTED, BUSY_SPENT, BUSY_PACKETS, BUSY_ELEMENTS };

static inline uint64_t
busy_work(uint64_t ticks)
{
	const uint64_t start = __builtin_ia32_rdtsc();
	uint64_t now = start;

	while (now - start < ticks)
		now = __builtin_ia32_rdtsc();
	return now - start < 2 * ticks ? now - start : ticks;
}

static void
process(struct worker *worker, struct burst *burst)
{
	uint64_t *elements = (uint64_t *)(void *)worker->shared->registers[0].elements;
	struct output *out = &worker->out;
	const uint32_t count = burst->count;

	if (count != 0 && elements[BUSY_WANTED] != 0)
		elements[BUSY_SPENT] += busy_work(elements[BUSY_WANTED] * count);
	memcpy(out->packets + out->count, burst->packets, count * sizeof(*out->packets));
	memcpy(out->ports + out->count, burst->ports, count * sizeof(*out->ports));
	if (PACKET_DESCRIPTOR == DESCRIPTOR_OWN)
		memcpy(out->lengths + out->count, burst->lengths, count * sizeof(*out->lengths));
	out->count += count;
	worker->packet_number += count;
	elements[BUSY_PACKETS] += count;
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

static const struct register_descriptor registers[] = {
	{ .name = "busy", .size = BUSY_ELEMENTS, .width = 64, .element_bytes = sizeof(uint64_t) },
};

const struct pipeline bacus_pipeline = {
	.version = ABI_VERSION,
	.descriptor = PACKET_DESCRIPTOR,
	.layout = ABI_LAYOUT,
	.program = "busy",
	.burst = BURST,
	.register_count = 1,
	.registers = registers,
	.worker_bytes = 64,
	.attach = attach,
	.detach = detach,
	.process = process,
};
