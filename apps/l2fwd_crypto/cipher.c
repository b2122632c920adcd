/* The cipher of l2fwd_crypto.p4: AES-128-CBC by OpenSSL's libcrypto, in place. */
#include "extern/payload.h"

#include <openssl/evp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CIPHER_BLOCK 16u
#define CIPHER_TRAILER 8u
/* Threads that may be in a call at the same time; one more waits. */
#define CIPHER_LANES 64u

/* What one call needs of libcrypto, whose contexts are for one thread at a time. Each holds the key's schedule. */
struct cipher_lane {
	_Alignas(64) atomic_flag busy;
	EVP_CIPHER_CTX *number;
	EVP_CIPHER_CTX *encrypt;
	EVP_CIPHER_CTX *decrypt;
};

struct Cipher {
	struct cipher_lane lanes[CIPHER_LANES];
	_Atomic uint64_t next;
	uint8_t key[CIPHER_BLOCK];
};

void Cipher_delete(struct Cipher *cipher);

static void
cipher_store(uint8_t *bytes, uint64_t value, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)(value >> 8 * (count - 1 - i));
}

static uint64_t
cipher_load(const uint8_t *bytes, uint32_t count)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < count; i++)
		value = value << 8 | bytes[i];
	return value;
}

static EVP_CIPHER_CTX *
cipher_context(const EVP_CIPHER *kind, const uint8_t *key, int encrypts)
{
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();

	if (context == NULL)
		return NULL;
	if (EVP_CipherInit_ex(context, kind, NULL, key, NULL, encrypts) != 1 || EVP_CIPHER_CTX_set_padding(context, 0) != 1) {
		EVP_CIPHER_CTX_free(context);
		return NULL;
	}
	return context;
}

struct Cipher *
Cipher_new(const uint64_t *key)
{
	struct Cipher *cipher = aligned_alloc(64, sizeof(*cipher));

	if (cipher == NULL)
		return NULL;
	memset(cipher, 0, sizeof(*cipher));
	cipher_store(cipher->key, key[1], 8);
	cipher_store(cipher->key + 8, key[0], 8);
	for (uint32_t i = 0; i < CIPHER_LANES; i++) {
		struct cipher_lane *lane = &cipher->lanes[i];

		atomic_flag_clear(&lane->busy);
		lane->number = cipher_context(EVP_aes_128_ecb(), cipher->key, 1);
		lane->encrypt = cipher_context(EVP_aes_128_cbc(), cipher->key, 1);
		lane->decrypt = cipher_context(EVP_aes_128_cbc(), cipher->key, 0);
		if (lane->number == NULL || lane->encrypt == NULL || lane->decrypt == NULL) {
			Cipher_delete(cipher);
			return NULL;
		}
	}
	return cipher;
}

void
Cipher_delete(struct Cipher *cipher)
{
	for (uint32_t i = 0; i < CIPHER_LANES; i++) {
		EVP_CIPHER_CTX_free(cipher->lanes[i].number);
		EVP_CIPHER_CTX_free(cipher->lanes[i].encrypt);
		EVP_CIPHER_CTX_free(cipher->lanes[i].decrypt);
	}
	free(cipher);
}

/* A lane that no other thread is in, until `cipher_leave`. */
static struct cipher_lane *
cipher_enter(struct Cipher *cipher)
{
	uint32_t i = 0;

	while (atomic_flag_test_and_set_explicit(&cipher->lanes[i].busy, memory_order_acquire))
		i = (i + 1) % CIPHER_LANES;
	return &cipher->lanes[i];
}

static void
cipher_leave(struct cipher_lane *lane)
{
	atomic_flag_clear_explicit(&lane->busy, memory_order_release);
}

/* The IV of a frame: its number, encrypted. */
static bool
cipher_iv(EVP_CIPHER_CTX *context, uint64_t number, uint8_t *iv)
{
	uint8_t block[CIPHER_BLOCK] = { 0 };
	int length = 0;

	cipher_store(block, number, 8);
	return EVP_CipherUpdate(context, iv, &length, block, CIPHER_BLOCK) == 1 && length == (int)CIPHER_BLOCK;
}

/* Encrypts or decrypts whole blocks in place, as the context was made to. */
static bool
cipher_blocks(struct cipher_lane *lane, EVP_CIPHER_CTX *context, uint64_t number, uint8_t *data, uint32_t bytes)
{
	uint8_t iv[CIPHER_BLOCK];
	int length = 0;

	return cipher_iv(lane->number, number, iv) && EVP_CipherInit_ex(context, NULL, NULL, NULL, iv, -1) == 1 &&
	       EVP_CipherUpdate(context, data, &length, data, (int)bytes) == 1 && length == (int)bytes;
}

uint64_t
Cipher_seal(struct Cipher *cipher, struct extern_payload *payload, uint64_t type, uint64_t *bytes, uint64_t *number)
{
	const uint32_t length = payload->length;
	const uint32_t padding = (CIPHER_BLOCK - (length + CIPHER_TRAILER) % CIPHER_BLOCK) % CIPHER_BLOCK;
	const uint32_t sealed = length + padding + CIPHER_TRAILER;
	uint8_t *end = payload->data + length;
	struct cipher_lane *lane;
	bool is_good;

	if (sealed > payload->room || sealed > UINT16_MAX)
		return false;
	*number = atomic_fetch_add(&cipher->next, 1);
	for (uint32_t i = 1; i <= padding; i++)
		*end++ = (uint8_t)i;
	cipher_store(end, type, 2);
	cipher_store(end + 2, length, 2);
	cipher_store(end + 4, *number, 4);
	lane = cipher_enter(cipher);
	is_good = cipher_blocks(lane, lane->encrypt, *number, payload->data, sealed);
	cipher_leave(lane);
	payload->length = sealed;
	*bytes = sealed;
	return is_good;
}

uint64_t
Cipher_open(struct Cipher *cipher, struct extern_payload *payload, uint64_t bytes, uint64_t number, uint64_t *type)
{
	const uint32_t sealed = (uint32_t)bytes;
	const uint8_t *trailer = payload->data + sealed - CIPHER_TRAILER;
	struct cipher_lane *lane;
	uint32_t length;
	bool is_good;

	if (sealed == 0 || sealed % CIPHER_BLOCK != 0 || sealed > payload->length)
		return false;
	lane = cipher_enter(cipher);
	is_good = cipher_blocks(lane, lane->decrypt, number, payload->data, sealed);
	cipher_leave(lane);
	length = (uint32_t)cipher_load(trailer + 2, 2);
	if (!is_good || cipher_load(trailer + 4, 4) != (number & UINT32_MAX) || length + CIPHER_TRAILER > sealed ||
	    sealed - CIPHER_TRAILER - length >= CIPHER_BLOCK)
		return false;
	for (uint32_t i = 1; i <= sealed - CIPHER_TRAILER - length; i++) {
		if (payload->data[length + i - 1] != i)
			return false;
	}
	*type = cipher_load(trailer, 2);
	payload->length = length;
	return true;
}
