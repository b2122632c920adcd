/* Runs the pipeline of embed.p4 in this program (docs/embedding.md):
 *     bacus compile embed.p4 --descriptor own -o embed.so
 *     cc embed.c $(pkg-config --cflags --libs bacus) -o embed && ./embed embed.so */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "embed/embed.h"

static void
print_sent(void *context, const uint8_t *packet, uint16_t length, uint16_t port)
{
	(void)context;
	printf("port %u: %u bytes to %02x:%02x:%02x:%02x:%02x:%02x\n", port, length, packet[0], packet[1], packet[2], packet[3], packet[4], packet[5]);
}

/* A record of the action: of forward with its port, of others without parameters. */
static void
fill(const struct table_descriptor *hosts, void *record, const char *action, const uint64_t *port)
{
	const uint32_t number = embed_action(hosts, action);

	*(uint32_t *)record = number;
	if (number == EMBED_NONE || (port != NULL && embed_parameter(hosts, record, "port", *port) != 0)) {
		fprintf(stderr, "the table has no action %s with such a port\n", action);
		exit(1);
	}
}

int
main(int argc, char **argv)
{
	const struct embedding embedding = { .ports = 16, .buffers = 256, .send = print_sent };
	const struct table_descriptor *hosts;
	const char *why;
	struct embedded *pipeline = embed_open(argc > 1 ? argv[1] : "embed.so", &embedding, &why);

	if (pipeline == NULL) {
		fprintf(stderr, "no pipeline: %s\n", why);
		return 1;
	}
	struct writer *table = embed_table(pipeline, "ingress.hosts", &hosts);
	if (table == NULL) {
		fprintf(stderr, "the pipeline has no table ingress.hosts\n");
		return 1;
	}
	uint64_t *record = calloc(1, hosts->record_bytes);
	/* A default action that the program declares is an entry of the control plane, too. */
	fill(hosts, record, "ingress.drop", NULL);
	writer_set_default(table, record);
	for (uint64_t host = 1; host <= 3; host++) {
		const uint64_t address = 0x020000000000u + host, port = 4 + host;
		fill(hosts, record, "ingress.forward", &port);
		if (writer_insert(table, &(struct table_match){ .value = &address }, record, NULL) != TABLE_OK)
			return 1;
	}
	for (uint8_t number = 0; number < 200; number++) {
		const uint8_t packet[64] = { 2, 0, 0, 0, 0, number, 2, 0, 0, 0, 0, 9, 8, 0 };
		embed_receive(pipeline, packet, sizeof(packet), 1);
	}
	embed_flush(pipeline);
	const struct worker *worker = embed_worker(pipeline);
	printf("hits %" PRIu64 ", misses %" PRIu64 "\n", worker->hits[0], worker->misses[0]);
	free(record);
	embed_close(pipeline);
	return 0;
}
