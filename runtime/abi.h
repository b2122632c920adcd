/* The interface between host process and pipeline, complete. docs/abi.md explains it.
 *
 * The host owns ports, packet memory, tables and all state that outlives a pipeline. A pipeline is a shared
 * object that exports one `struct pipeline` under the name `bacus_pipeline`. Plain C11: Rust mirrors these
 * structs by hand, field by field, in the same order. */
#ifndef BACUS_ABI_H
#define BACUS_ABI_H

#include <stddef.h>
#include <stdint.h>

#define ABI_VERSION 7u
#define KEY_SKETCH_WORDS 1024u	/* words in the bitmap of a table's keys */

/* A received burst. The pipeline becomes the owner of its packets. */
struct burst {
	uint32_t count;
	const uint16_t *ports;	/* ingress port of each packet */
	void **packets;		/* mbuf: struct rte_mbuf *; own: the packet's first byte */
	uint16_t *lengths;	/* own: bytes of each packet; mbuf: unused */
};

/* Packets to send, in order. The host empties it after `process`, or earlier by `flush` when it is full. It
 * has room for more than 64. */
struct output {
	uint32_t count;
	uint32_t capacity;
	void **packets;
	uint16_t *lengths;	/* own only */
	uint16_t *ports;
};

/* Packets whose memory the host may free. */
struct released {
	uint32_t count;
	uint32_t capacity;
	void **packets;
};

/* An element of a counter. */
struct counter_element {
	uint64_t packets;
	uint64_t bytes;
};

/* An element of a meter: rates, burst sizes, and both token buckets as of `time_ns`. Rates are billionths of a
 * packet or byte a second; tokens are billionths of billionths of one. */
struct meter_element {
	uint64_t committed_rate[2];	/* 128 bits, low limb first */
	uint64_t committed_burst;
	uint64_t peak_rate[2];
	uint64_t peak_burst;
	uint64_t committed_tokens[2];
	uint64_t peak_tokens[2];
	uint64_t time_ns;
	uint32_t configured;	/* 0: every packet is green */
	uint32_t lock;
};

/* The destination of a copy: a member of a multicast group or mirror session. */
struct member {
	uint32_t port;
	uint32_t instance;
};

/* A multicast group or mirror session. `truncation` is the length that a session's copies are cut to, or 0. */
struct group {
	uint32_t count;
	uint32_t truncation;
	struct member members[];
};

/* Groups by number: open addressing, replaced as a whole. A number without slot does not exist. */
struct group_slot {
	uint64_t number;
	const struct group *group;	/* NULL: free */
};

struct groups {
	uint32_t mask;
	struct group_slot slots[];
};

/* In place of an action's number: the record's `group_offset` has the slot of a selector's group. */
#define SELECTOR_GROUP UINT32_MAX

/* A group of a selector: the records of its members, contiguous, in the form of the table's. Replaced as a
 * whole. */
struct selector_group {
	uint32_t count;
	uint32_t unused;
	uint8_t records[];
};

/* The groups of one table, by slot. Read `groups` and its elements with acquire order; NULL: no such group. */
struct selection {
	const struct selector_group **groups;
};

/* An array of bit strings: 1, 2, 4 or 8 bytes each, or whole 64-bit limbs, low limb first. */
struct state_array {
	uint64_t count;
	uint8_t *elements;
};

struct worker;

/* State that all workers of a switch share while a pipeline is attached. Pointers in it change only at burst
 * boundaries, except those that are read with acquire order (`groups`, `sessions`). What changes while packets
 * flow is behind these pointers: tables and groups are published by release stores, elements of registers are
 * words, elements of meters have a lock. */
struct shared {
	const void *const *tables;	/* by table number: struct exact, struct lpm, ...; see runtime/table/ */
	struct state_array *registers;
	struct meter_element *const *meters;	/* by meter number; a direct meter has an element for each record of its table */
	struct groups *_Atomic *groups;
	struct groups *_Atomic *sessions;
	const struct selection *const *selections;	/* by table number */
	void *const *externs;	/* by extern number: the result of `create` */
	/* Callbacks to the control plane. They copy their arguments. Values: 64-bit limbs, each field
	 * starting a new one. */
	void (*digest)(struct worker *worker, uint32_t digest, const uint64_t *values, uint32_t limbs);
	void (*log)(struct worker *worker, const char *format, const uint64_t *values, const uint32_t *widths, uint32_t count);
	void (*fail)(struct worker *worker, const char *text);	/* an assertion does not hold: the switch stops after this burst */
	void (*punt)(struct worker *worker, void *packet, uint16_t length, const void *saved, uint32_t saved_bytes, uint32_t node);
	/* Inserts an entry from the data plane (PNA add_entry) and starts its timer. 0 on success. */
	int (*insert)(struct worker *worker, uint32_t table, const uint64_t *key, const void *record, uint32_t timer);
};

/* A worker's packet memory. */
struct pool {
	void *handle;	/* mbuf: struct rte_mempool *; own: struct own_pool * */
	void *(*allocate)(struct pool *pool);	/* an empty packet with full headroom, or NULL: mbuf, or an own buffer's first data byte */
	uint32_t buffer_bytes;	/* own: size and alignment of a buffer, a power of two */
	uint32_t headroom_bytes;
	uint32_t count;		/* buffers */
	uint32_t unused;
};

/* A run-to-completion worker. The host fills it; a pipeline changes `out`, `freed`, `packet_number` and the
 * counters. */
struct worker {
	uint32_t id;
	uint32_t port_count;	/* packets to other ports are dropped */
	uint64_t clock_ns;	/* set by the host before each burst */
	uint64_t seed;
	uint64_t packet_number;	/* of the next packet to arrive; grows by one per packet */
	const struct shared *shared;
	/* The pipeline's own: `worker_bytes`, zero at attach, 64-byte aligned; then, from the next multiple of 64 on, `copy_bytes` for each buffer of the pool. */
	void *memory;
	struct pool *pool;
	void (*flush)(struct worker *worker);	/* sends `out`, frees `freed`, empties both */
	void *host;		/* the host's own */
	struct output out;
	struct released freed;
	uint64_t *drops;	/* by reason */
	uint64_t *hits;		/* by table */
	uint64_t *misses;
	struct counter_element *const *counters;	/* by counter number: this worker's elements; a direct counter has one for each record */
	uint64_t *edges;	/* by edge, if the plan counts them */
	uint64_t *key_sketches;	/* by table, if edges are counted: a bitmap of `KEY_SKETCH_WORDS` words of the keys looked up, see extern/key_sketch.h */
	/* Ends of bursts: quiescent states, which writers wait for before they reuse memory (a grace period).
	 * On a cache line of its own.
	 *
	 * The worker alone adds to it, by an addition that is a full fence. Writers poll it: on a line with
	 * other members, each store of the worker would have to fetch the line back. */
	_Alignas(64) _Atomic uint64_t quiescent;
	uint8_t quiescent_rest[56];
};

enum match_kind { MATCH_EXACT, MATCH_LPM, MATCH_TERNARY, MATCH_RANGE, MATCH_OPTIONAL };
enum structure {
	STRUCTURE_EXACT,
	STRUCTURE_DIR24_8,
	STRUCTURE_LPM_TRIE,
	STRUCTURE_LIST,
	STRUCTURE_EXACT48,
	STRUCTURE_DIR24_8_U16,
	STRUCTURE_DIR24_8_U8,
	STRUCTURE_DIRECT,
	STRUCTURE_COMPARE,
	STRUCTURE_SCAN,
	STRUCTURE_BIT_VECTOR,
	STRUCTURE_BTREE,
	STRUCTURE_PERFECT,
	STRUCTURE_TUPLE_SPACE,
	STRUCTURE_EXACT60,
	STRUCTURES		/* how many there are */
};
enum idle_timeout { IDLE_NONE, IDLE_NOTIFY, IDLE_DELETE };
enum descriptor { DESCRIPTOR_MBUF, DESCRIPTOR_OWN };

/* A field of a table's key. The whole key is one number of `key_bits` bits, in 64-bit limbs, low limb first;
 * a field is `width` of its bits from bit `shift` on. Exact fields of an lpm key are above the lpm field. */
struct key_field {
	const char *name;
	uint32_t width;
	uint32_t shift;
	uint32_t kind;		/* enum match_kind */
	const uint64_t *mask;	/* of all entries, in limbs: the structure holds the key as an exact one; NULL: entries have their own */
};

/* A key of a table that is in no field, since entries and lookups do not differ in it. */
struct left_out_key {
	const char *name;
	uint32_t width;
	uint32_t kind;		/* enum match_kind */
	uint32_t number;	/* among the table's keys */
	const uint64_t *value;	/* that all entries match, in limbs; NULL: any */
};

enum parameter_form {
	PARAMETER_NUMBER,	/* an unsigned integer of 1, 2, 4 or 8 bytes, or whole limbs, low limb first */
	PARAMETER_BYTES,	/* width / 8 bytes in network order, for actions that only copy them into a packet */
};

/* A parameter in a record. */
struct parameter {
	const char *name;
	uint32_t width;
	uint32_t offset;
	uint32_t form;		/* enum parameter_form */
};

/* The parameter `label` of `bits` bits, which lies in the record's member `place`. */
#define PARAMETER(label, bits, stored, record, place) { .name = label, .width = bits, .offset = offsetof(record, place), .form = stored }

struct action {
	const char *name;
	uint32_t parameter_count;
	const struct parameter *parameters;
};

/* An action with these parameters, at least one. */
#define PARAMETERS(...) (const struct parameter[]){ __VA_ARGS__ }
#define ACTION(label, ...)                                                                                                                          \
	{                                                                                                                                           \
		.name = label, .parameter_count = sizeof(PARAMETERS(__VA_ARGS__)) / sizeof(struct parameter),                                       \
		.parameters = PARAMETERS(__VA_ARGS__)                                                                                               \
	}

/* A lookup finds a record: the action's number (uint32_t), then the parameters. Record 0 is the default
 * action's. */
struct table_descriptor {
	const char *name;
	uint32_t structure;	/* enum structure */
	uint32_t key_bits;
	uint32_t key_limbs;	/* at least 1 */
	uint32_t field_count;
	const struct key_field *fields;
	uint32_t left_out_count;
	const struct left_out_key *left_out;
	uint32_t action_count;
	const struct action *actions;
	uint32_t record_bytes;	/* a multiple of 8 */
	uint32_t records_own;	/* 1: a record for each entry (direct counters, meters, timeouts); 0: equal records are shared */
	uint64_t size;	/* declared size; 0: grows as needed */
	uint32_t idle_timeout;	/* enum idle_timeout */
	uint32_t source;	/* number of the table in the program; value sets follow the tables */
	uint32_t group_offset;	/* offset of the group's slot (uint32_t) in a record; 0: the table has no selector */
	uint32_t primary;	/* for a secondary joint table, one more than the number of the primary; 0: an array of its own */
	uint32_t part_shift;	/* joint tables: first bit of the table's record number in a lookup's result */
	uint32_t part_bits;	/* and how many; 0: all of it, for an array of its own */
};

struct counter_descriptor {
	const char *name;
	uint64_t size;	/* elements; 0: one for each record of `table` */
	uint32_t table;
};

struct meter_descriptor {
	const char *name;
	uint64_t size;
	uint32_t table;
	uint32_t bytes;		/* 1: measures bytes, 0: packets */
};

struct register_descriptor {
	const char *name;
	uint64_t size;
	uint32_t width;
	uint32_t element_bytes;
	const uint64_t *initial;	/* limbs, or NULL for zero */
};

/* An object of a custom extern. */
struct extern_descriptor {
	const char *name;
	const char *of_type;
	void *(*create)(void);	/* before the first `attach`; NULL on failure */
	void (*destroy)(void *object);	/* after the last `detach` */
};

/* A variable or header bit in a saved packet. */
struct saved_field {
	const char *name;
	uint32_t width;
	uint32_t offset;
};

/* A pipeline. Its strings and arrays live as long as the shared object. */
struct pipeline {
	uint32_t version;	/* ABI_VERSION */
	uint32_t descriptor;	/* enum descriptor */
	uint64_t layout;	/* ABI_LAYOUT as the pipeline's compiler saw it */
	const char *program;
	uint32_t burst;		/* packets that `process` takes at most */
	uint32_t table_count;	/* tables, then value sets */
	const struct table_descriptor *tables;
	uint32_t counter_count;
	uint32_t meter_count;
	const struct counter_descriptor *counters;
	const struct meter_descriptor *meters;
	uint32_t register_count;
	uint32_t drop_count;
	const struct register_descriptor *registers;
	const char *const *drops;	/* reasons */
	uint32_t node_count;
	uint32_t edge_count;
	const char *const *nodes;
	const char *const *edges;	/* "FROM -> TO" */
	uint32_t saved_count;
	uint32_t saved_bytes;
	const struct saved_field *saved;
	uint64_t worker_bytes;
	uint64_t copy_bytes;	/* of a copied packet's state */
	uint32_t extern_count;
	uint32_t held_bursts;	/* ends of bursts that a packet may be kept over with what it has found in tables */
	const struct extern_descriptor *externs;
	/* Before a worker's first burst. 0 on success. NULL: there is nothing to do. */
	int (*attach)(struct worker *worker);
	/* After the last burst: returns by `freed` every packet that the pipeline still holds. NULL: it holds none then. */
	void (*detach)(struct worker *worker);
	/* Processes a burst of at most `burst` packets. Packets may leave in a later call; an empty burst
	 * flushes all of them. */
	void (*process)(struct worker *worker, struct burst *burst);
	/* Resumes a packet that was saved at `node`. NULL: the pipeline saves none. */
	void (*resume)(struct worker *worker, void *packet, uint16_t length, const void *saved, uint32_t node);
};

/* Changes when a struct does, so that host and pipeline of different builds reject each other. */
#define ABI_MIX(hash, value) (((hash) ^ (uint64_t)(value)) * 0x9e3779b97f4a7c15ull)
#define ABI_LAYOUT                                                                                                                                  \
	ABI_MIX(ABI_MIX(ABI_MIX(ABI_MIX(ABI_MIX(ABI_MIX(ABI_MIX(ABI_MIX(ABI_MIX(ABI_MIX(ABI_VERSION, sizeof(struct worker)), sizeof(struct pipeline)),     \
		sizeof(struct shared)), sizeof(struct table_descriptor)), offsetof(struct worker, drops)), offsetof(struct worker, quiescent)),     \
		sizeof(struct meter_element)), offsetof(struct pipeline, process)), sizeof(struct parameter)), sizeof(struct key_field))

#endif
