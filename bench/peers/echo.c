/* The floor of every measurement: each packet leaves by the next port, untouched. What a program costs is what it costs beyond this. */
#include <string.h>

#include "abi.h"
#ifdef PEER_MBUF
#include "packet/mbuf.h"
#else
#include "packet/own.h"
#endif

#define BURST 256u

static void
process(struct worker *worker, struct burst *burst)
{
	struct output *out = &worker->out;
	uint16_t *ports = out->ports + out->count;
	const uint16_t *from = burst->ports;
	const uint32_t count = burst->count;

	memcpy(out->packets + out->count, burst->packets, count * sizeof(*out->packets));
	if (PACKET_DESCRIPTOR == DESCRIPTOR_OWN)
		memcpy(out->lengths + out->count, burst->lengths, count * sizeof(*out->lengths));
	for (uint32_t i = 0; i < count; i++)
		ports[i] = from[i] ^ 1u;
	out->count += count;
	worker->packet_number += count;
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

const struct pipeline bacus_pipeline = {
	.version = ABI_VERSION,
	.descriptor = PACKET_DESCRIPTOR,
	.layout = ABI_LAYOUT,
	.program = "echo",
	.burst = BURST,
	.worker_bytes = 64,
	.attach = attach,
	.detach = detach,
	.process = process,
};
