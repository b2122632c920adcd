/* A packet as custom externs see it: the bytes after the parsed headers. Included by the user's code;
 * docs/externs.md explains it. */
#ifndef BACUS_EXTERN_PAYLOAD_H
#define BACUS_EXTERN_PAYLOAD_H

#include <stdint.h>

/* `data` and `length` may be changed; the payload may grow up to `room`. */
struct extern_payload {
	uint8_t *data;
	uint32_t length;
	uint32_t room;
};

/* Bytes by which a payload may grow, if its buffer has them. */
#define EXTERN_GROWTH 256u

/* Creates and destroys an object, and calls a function: for the interpreter, which knows neither types nor
 * argument counts. */
struct extern_function {
	const char *name;
	/* `limbs`: the concatenated arguments, then the result. */
	void (*call)(void *object, struct extern_payload *payload, uint64_t *limbs);
};

struct extern_object {
	const char *name;
	void *(*create)(void);
	void (*destroy)(void *object);
};

/* The symbol that the interpreter loads. */
struct extern_library {
	uint32_t function_count;
	uint32_t object_count;
	const struct extern_function *functions;
	const struct extern_object *objects;
};

#endif
