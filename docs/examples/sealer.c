/* The externs of sealer.p4. The cipher is a toy that shows where a real one would be: it protects nothing. */
#include "extern/payload.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define TAG_BYTES 4u

/* Workers seal at the same time, so what they share is counted atomically. */
struct Sealer {
	uint64_t key[2];
	_Atomic uint32_t packets;
	_Atomic uint64_t bytes;
};

struct Sealer *
Sealer_new(const uint64_t *key)
{
	struct Sealer *sealer = calloc(1, sizeof(*sealer));

	if (sealer != NULL) {
		sealer->key[0] = key[0];
		sealer->key[1] = key[1];
	}
	return sealer;
}

void
Sealer_delete(struct Sealer *sealer)
{
	free(sealer);
}

static uint64_t
sealer_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Encrypts or decrypts. */
static void
sealer_stream(const struct Sealer *sealer, uint64_t number, uint8_t *data, uint32_t length)
{
	uint64_t pad = 0;

	for (uint32_t i = 0; i < length; i++) {
		if (i % 8 == 0)
			pad = sealer_mix(sealer->key[0] ^ sealer_mix(sealer->key[1] + (number << 32 | i / 8)));
		data[i] ^= (uint8_t)(pad >> 8 * (i % 8));
	}
}

static uint32_t
sealer_tag(const struct Sealer *sealer, uint64_t number, const uint8_t *data, uint32_t length)
{
	uint64_t tag = sealer->key[1] ^ number;

	for (uint32_t i = 0; i < length; i++)
		tag = sealer_mix(tag ^ data[i]);
	return (uint32_t)tag;
}

uint64_t
Sealer_seal(struct Sealer *sealer, struct extern_payload *payload)
{
	const uint32_t number = atomic_fetch_add(&sealer->packets, 1);
	uint32_t tag;

	atomic_fetch_add(&sealer->bytes, payload->length);
	sealer_stream(sealer, number, payload->data, payload->length);
	tag = sealer_tag(sealer, number, payload->data, payload->length);
	for (uint32_t i = 0; i < TAG_BYTES && payload->length < payload->room; i++)
		payload->data[payload->length++] = (uint8_t)(tag >> 8 * i);
	return number;
}

uint64_t
Sealer_open(struct Sealer *sealer, struct extern_payload *payload, uint64_t number)
{
	const uint32_t length = payload->length - TAG_BYTES;
	uint32_t tag = 0;

	if (payload->length < TAG_BYTES)
		return false;
	for (uint32_t i = 0; i < TAG_BYTES; i++)
		tag |= (uint32_t)payload->data[length + i] << 8 * i;
	if (tag != sealer_tag(sealer, number, payload->data, length))
		return false;
	sealer_stream(sealer, number, payload->data, length);
	payload->length = length;
	return true;
}

/* The extern as a whole sees payloads, so this function is given one as well. */
void
Sealer_sealed(struct Sealer *sealer, struct extern_payload *payload, uint64_t *packets, uint64_t *bytes)
{
	(void)payload;
	*packets = sealer->packets;
	*bytes = sealer->bytes;
}

/* More than 64 bits come in limbs of 64, the low one first; what is beyond an argument's width is cut off. */
uint64_t
fold(uint64_t address, const uint64_t *salt, uint64_t *sum, uint64_t *mixed)
{
	*sum = *sum ^ address ^ address >> 16 ^ address >> 32;
	mixed[0] = address ^ salt[0];
	mixed[1] = ~salt[1] >> 3;
	return address != 0;
}
