/* Registers: arrays of bit strings that all workers share. An element of up to 64 bits is read and written
 * atomically; a wider one limb by limb, so only one worker may use it at a time, or the plan must ensure
 * that. */
#ifndef BACUS_STATE_H
#define BACUS_STATE_H

#include "abi.h"

/* Returns 0 and leaves `value` unchanged if the index is out of range. `element_bytes` is 1, 2, 4 or 8 and a
 * literal. */
static inline int
state_read(const struct state_array *array, uint64_t index, uint32_t element_bytes, uint64_t *value)
{
	const uint8_t *element;

	if (index >= array->count)
		return 0;
	element = array->elements + index * element_bytes;
	switch (element_bytes) {
	case 1:
		*value = __atomic_load_n(element, __ATOMIC_RELAXED);
		break;
	case 2:
		*value = __atomic_load_n((const uint16_t *)(const void *)element, __ATOMIC_RELAXED);
		break;
	case 4:
		*value = __atomic_load_n((const uint32_t *)(const void *)element, __ATOMIC_RELAXED);
		break;
	default:
		*value = __atomic_load_n((const uint64_t *)(const void *)element, __ATOMIC_RELAXED);
		break;
	}
	return 1;
}

/* No effect if the index is out of range. `value` is below 2^width of the register. */
static inline void
state_write(const struct state_array *array, uint64_t index, uint32_t element_bytes, uint64_t value)
{
	uint8_t *element;

	if (index >= array->count)
		return;
	element = array->elements + index * element_bytes;
	switch (element_bytes) {
	case 1:
		__atomic_store_n(element, (uint8_t)value, __ATOMIC_RELAXED);
		break;
	case 2:
		__atomic_store_n((uint16_t *)(void *)element, (uint16_t)value, __ATOMIC_RELAXED);
		break;
	case 4:
		__atomic_store_n((uint32_t *)(void *)element, (uint32_t)value, __ATOMIC_RELAXED);
		break;
	default:
		__atomic_store_n((uint64_t *)(void *)element, value, __ATOMIC_RELAXED);
		break;
	}
}

static inline int
state_read_wide(const struct state_array *array, uint64_t index, uint32_t limbs, uint64_t *value)
{
	const uint64_t *element;

	if (index >= array->count)
		return 0;
	element = (const uint64_t *)(const void *)array->elements + index * limbs;
	for (uint32_t i = 0; i < limbs; i++)
		value[i] = __atomic_load_n(&element[i], __ATOMIC_RELAXED);
	return 1;
}

static inline void
state_write_wide(const struct state_array *array, uint64_t index, uint32_t limbs, const uint64_t *value)
{
	uint64_t *element;

	if (index >= array->count)
		return;
	element = (uint64_t *)(void *)array->elements + index * limbs;
	for (uint32_t i = 0; i < limbs; i++)
		__atomic_store_n(&element[i], value[i], __ATOMIC_RELAXED);
}

#endif
