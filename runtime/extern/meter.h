/* Two-rate three-colour meters (RFC 2698), exactly as the interpreter's meter.rs defines them: rates are
 * billionths a second, and tokens are billionths of these, so nothing is rounded. Elements are shared by all workers, each under a
 * spin lock that is held for a few cycles. */
#ifndef BACUS_METER_H
#define BACUS_METER_H

#include "abi.h"

enum colour { COLOUR_GREEN, COLOUR_YELLOW, COLOUR_RED };

#define METER_UNIT 1000000000000000000u	/* tokens of a packet or byte */

__extension__ typedef unsigned __int128 meter_tokens;

static inline meter_tokens
meter_load(const uint64_t limbs[2])
{
	return (meter_tokens)limbs[1] << 64 | limbs[0];
}

static inline void
meter_store(uint64_t limbs[2], meter_tokens value)
{
	limbs[0] = (uint64_t)value;
	limbs[1] = (uint64_t)(value >> 64);
}

static inline void
meter_lock(struct meter_element *element)
{
	while (__atomic_exchange_n(&element->lock, 1, __ATOMIC_ACQUIRE) != 0)
		__builtin_ia32_pause();
}

static inline void
meter_unlock(struct meter_element *element)
{
	__atomic_store_n(&element->lock, 0, __ATOMIC_RELEASE);
}

/* A product of rate and time that 128 bits do not hold fills every bucket: these hold less than 2^124 tokens. */
static inline meter_tokens
meter_refill(meter_tokens tokens, const uint64_t rate[2], uint64_t burst, uint64_t elapsed_ns)
{
	const meter_tokens most = (meter_tokens)burst * METER_UNIT;
	const meter_tokens low = (meter_tokens)rate[0] * elapsed_ns, high = (meter_tokens)rate[1] * elapsed_ns;
	const meter_tokens gained = low + (high << 64), sum = tokens + gained;

	return high >> 64 != 0 || gained < low || sum < tokens || sum > most ? most : sum;
}

static inline uint32_t
meter_colour(struct meter_element *element, uint64_t cost, uint64_t before, uint64_t now_ns)
{
	const uint64_t elapsed_ns = now_ns > element->time_ns ? now_ns - element->time_ns : 0;
	const meter_tokens price = (meter_tokens)cost * METER_UNIT;
	meter_tokens committed = meter_refill(meter_load(element->committed_tokens), element->committed_rate, element->committed_burst, elapsed_ns);
	meter_tokens peak = meter_refill(meter_load(element->peak_tokens), element->peak_rate, element->peak_burst, elapsed_ns);
	uint32_t colour = COLOUR_GREEN;

	if (before >= COLOUR_RED || peak < price) {
		colour = COLOUR_RED;
	} else {
		peak -= price;
		if (before == COLOUR_YELLOW || committed < price)
			colour = COLOUR_YELLOW;
		else
			committed -= price;
	}
	element->time_ns = now_ns;
	meter_store(element->committed_tokens, committed);
	meter_store(element->peak_tokens, peak);
	return colour;
}

/* The colour of a packet that costs `cost` (1, or its bytes) and arrived with the colour `before`:
 * COLOUR_GREEN for a colour-blind meter. */
static inline uint32_t
meter_execute(struct meter_element *element, uint64_t cost, uint64_t before, uint64_t now_ns)
{
	uint32_t colour = COLOUR_GREEN;

	if (!__atomic_load_n(&element->configured, __ATOMIC_ACQUIRE))
		return COLOUR_GREEN;
	meter_lock(element);
	if (element->configured)
		colour = meter_colour(element, cost, before, now_ns);
	meter_unlock(element);
	return colour;
}

/* Whether the element has rates. */
static inline int
meter_is_configured(const struct meter_element *element)
{
	return __atomic_load_n(&element->configured, __ATOMIC_ACQUIRE) != 0;
}

/* For the control thread: sets the rates, in billionths a second, and fills both buckets. */
static inline void
meter_configure(struct meter_element *element, meter_tokens committed_rate, uint64_t committed_burst, meter_tokens peak_rate, uint64_t peak_burst,
	uint64_t now_ns)
{
	meter_lock(element);
	meter_store(element->committed_rate, committed_rate);
	element->committed_burst = committed_burst;
	meter_store(element->peak_rate, peak_rate);
	element->peak_burst = peak_burst;
	meter_store(element->committed_tokens, (meter_tokens)committed_burst * METER_UNIT);
	meter_store(element->peak_tokens, (meter_tokens)peak_burst * METER_UNIT);
	element->time_ns = now_ns;
	__atomic_store_n(&element->configured, 1, __ATOMIC_RELEASE);
	meter_unlock(element);
}

/* For the control thread: always green. `configured` is read without the lock first, so that a meter without
 * rates costs a load; it is read again under the lock. */
static inline void
meter_reset(struct meter_element *element)
{
	meter_lock(element);
	__atomic_store_n(&element->configured, 0, __ATOMIC_RELEASE);
	meter_unlock(element);
}

#endif
