/* freeRtr's own data plane in C as a peer: p4emu_full.c of its checkout, compiled beside this file, between the host's bursts and its function for a packet.
 *
 * A packet is processed where the port has written it, so it is copied no more often than a compiled program's; what the data plane sends is handed back
 * at the address and in the length that it gives. Entries come as freeRtr's controller writes them: the file FREERTR_MESSAGES has a message a line. All
 * packets come in on port 0, the one data port; those for the controller (port 1) are not sent, as in freeRtr's own bench. */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi.h"
#include "p4emu_hdr.h"

/* As in peer.h, whose names of tables are those of freeRtr's, too. */
struct table_match;

struct peer {
	int (*open)(uint64_t entries);
	int (*insert)(uint32_t table, const struct table_match *match, const void *record);
	int (*ready)(void);
};

enum { DATA_PORTS = 1, CPU_PORT = 1 };

static struct packetContext context;

/* What the data plane has sent of the packet that it has. */
static struct {
	unsigned char *data;
	int length;
	int port;
	int count;
} sent;

/* What freeRtr's files want of their host. */

void
sendPack(unsigned char *data, int length, int port)
{
	sent.data = data;
	sent.length = length;
	sent.port = port;
	sent.count++;
}

void
err(char *text)
{
	fprintf(stderr, "freeRtr: %s\n", text);
	_exit(1);
}

void
setMtu(int port, int mtu)
{
	(void)port, (void)mtu;
}

void
setState(int port, int state)
{
	(void)port, (void)state;
}

int
getState(int port)
{
	(void)port;
	return 1;
}

void
getStats(int port, unsigned char *buffer, unsigned char *prefix, int *length)
{
	(void)port, (void)buffer, (void)prefix, (void)length;
}

/* In place of its printf: standard output is the bench's. */
int
freertr_print(const char *format, ...)
{
	(void)format;
	return 0;
}

/* Entries */

static int
freertr_open(uint64_t entries)
{
	(void)entries;
	dataPorts = DATA_PORTS;
	cpuPort = CPU_PORT;
	initIface(0, "bench");
	if (initTables() != 0 || initContext(&context) != 0)
		return -1;
	context.stat = ifaceStat[0];
	return 0;
}

static int
freertr_insert(uint32_t table, const struct table_match *match, const void *record)
{
	(void)table, (void)match, (void)record;
	return -1;
}

static int
freertr_ready(void)
{
	FILE *messages = fopen(FREERTR_MESSAGES, "r");
	char *line = NULL;
	size_t room = 0;
	int refused = 0;

	if (messages == NULL)
		return -1;
	while (getline(&line, &room, messages) >= 0)
		refused |= doOneCommand(&context, (unsigned char *)line);
	free(line);
	fclose(messages);
	return refused;
}

/* Packets */

static void
process(struct worker *worker, struct burst *burst)
{
	struct output *out = &worker->out;
	struct released *freed = &worker->freed;

	for (uint32_t i = 0; i < burst->count; i++) {
		/* It adds headers below this offset, and counts from it. */
		context.bufD = (unsigned char *)burst->packets[i] - preBuff;
		sent.count = 0;
		processDataPacket(&context, burst->lengths[i], burst->ports[i]);
		if (sent.count == 0) {
			freed->packets[freed->count++] = burst->packets[i];
			continue;
		}
		out->packets[out->count] = sent.data;
		out->lengths[out->count] = (uint16_t)sent.length;
		out->ports[out->count] = (uint16_t)sent.port;
		out->count++;
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

/* All else is hidden, so that the data plane's variables are addressed as in a program. */
#define EXPORTED __attribute__((visibility("default")))

extern const struct peer bacus_peer;
extern const struct pipeline bacus_pipeline;

EXPORTED const struct peer bacus_peer = { .open = freertr_open, .insert = freertr_insert, .ready = freertr_ready };

EXPORTED const struct pipeline bacus_pipeline = {
	.version = ABI_VERSION,
	.descriptor = DESCRIPTOR_OWN,
	.layout = ABI_LAYOUT,
	.program = "freeRtr",
	.burst = 64,
	.worker_bytes = 64,
	.attach = attach,
	.detach = detach,
	.process = process,
};
