/* A compiled pipeline inside another program: loaded from its shared object, with its tables and state, for one
 * thread and packets in memory. docs/embedding.md explains it, docs/examples/embed.c uses it. Part of the host. */
#ifndef BACUS_EMBED_H
#define BACUS_EMBED_H

#include "abi.h"
#include "table/writer.h"

#define EMBED_NONE UINT32_MAX

struct embedded;

/* What the embedding program provides. */
struct embedding {
	uint32_t ports;		/* packets to other ports are dropped */
	uint32_t buffers;	/* packets and copies that exist at a time */
	void *context;
	/* A packet leaves. Its bytes are valid during the call. */
	void (*send)(void *context, const uint8_t *packet, uint16_t length, uint16_t port);
	/* A digest, its fields in limbs of 64 bits. May be NULL. */
	void (*digest)(void *context, uint32_t digest, const uint64_t *values, uint32_t limbs);
};

/* Loads a pipeline that was compiled with `--descriptor own`, and makes empty tables and initial state. NULL, and the
 * reason in `why`, which is valid until the next call. */
struct embedded *embed_open(const char *path, const struct embedding *embedding, const char **why);
void embed_close(struct embedded *embedded);

/* The worker: its counts, its clock, its shared state. */
struct worker *embed_worker(struct embedded *embedded);
const struct pipeline *embed_pipeline(const struct embedded *embedded);

/* The table of this name, and how entries of it are written; NULL: there is none. */
struct writer *embed_table(struct embedded *embedded, const char *name, const struct table_descriptor **descriptor);

/* The number of the table's action of this name, or EMBED_NONE. */
uint32_t embed_action(const struct table_descriptor *table, const char *name);

/* Writes an action's parameter of at most 64 bits into a record that begins with the action's number. 0 on success. */
int embed_parameter(const struct table_descriptor *table, void *record, const char *name, uint64_t value);

/* Copies a packet into a buffer and adds it to the burst, which is processed when it is full. 0 on success; not 0 if
 * the packet is too long, or no buffer is free after that. */
int embed_receive(struct embedded *embedded, const uint8_t *packet, uint16_t length, uint16_t port);

/* Processes what was received, and drives out the packets that the pipeline holds. */
void embed_flush(struct embedded *embedded);

#endif
