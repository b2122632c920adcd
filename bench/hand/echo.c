/* The floor of every measurement: each packet leaves by the next port, untouched. What a program costs is what it costs beyond this. */
#include "abi.h"
#include "packet/own.h"

#define BURST 256u

static void
process(struct worker *worker, struct burst *burst)
{
	for (uint32_t i = 0; i < burst->count; i++) {
		const struct packet packet = packet_take(burst, i);

		packet_send(worker, &packet, burst->ports[i] ^ 1u);
	}
	worker->packet_number += burst->count;
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
	.descriptor = DESCRIPTOR_OWN,
	.layout = ABI_LAYOUT,
	.program = "echo",
	.burst = BURST,
	.worker_bytes = 64,
	.attach = attach,
	.detach = detach,
	.process = process,
};
