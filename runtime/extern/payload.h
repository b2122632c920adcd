/* What a custom extern sees of a packet: the bytes behind the headers that the parser has taken. For the user's code; docs/externs.md explains it. */
#ifndef BACUS_EXTERN_PAYLOAD_H
#define BACUS_EXTERN_PAYLOAD_H

#include <stdint.h>

/* `data` may be changed, `length` too: it may grow up to `room`. */
struct extern_payload {
	uint8_t *data;
	uint32_t length;
	uint32_t room;
};

/* Bytes by which a payload may grow, where its buffer has them. */
#define EXTERN_GROWTH 256u

/* How an object is made and let go, and a function called: for the interpreter, which knows neither types nor numbers of arguments. */
struct extern_function {
	const char *name;
	/* `limbs`: the arguments one behind the other, then the result. */
	void (*call)(void *object, struct extern_payload *payload, uint64_t *limbs);
};

struct extern_object {
	const char *name;
	void *(*create)(void);
	void (*destroy)(void *object);
};

/* What the interpreter loads. */
struct extern_library {
	uint32_t function_count;
	uint32_t object_count;
	const struct extern_function *functions;
	const struct extern_object *objects;
};

#endif
