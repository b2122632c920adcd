/* Bursts in flight, for programs of several stages: the first works on the burst that has come, the others on the one before (AHEAD) or on the same.
 * The including file has a `struct flight` with a `struct held held` in it. */
#ifndef BACUS_PEER_FLIGHT_H
#define BACUS_PEER_FLIGHT_H

#include "peer.h"

/* A burst, and room for its arrays: those of a burst that came are the host's, and are used again for the next. */
struct held {
	struct burst burst;
	void *packets[PEER_BURST];
	uint16_t lengths[PEER_BURST];
	uint16_t ports[PEER_BURST];
};

PEER_INLINE void
held_take(struct held *held, const struct burst *burst)
{
	if (!AHEAD) {
		held->burst = *burst;
		return;
	}
	held->burst = (struct burst){ burst->count, held->ports, held->packets, held->lengths };
	memcpy(held->packets, burst->packets, burst->count * sizeof(held->packets[0]));
	memcpy(held->ports, burst->ports, burst->count * sizeof(held->ports[0]));
	if (PEER_DESCRIPTOR == DESCRIPTOR_OWN)
		memcpy(held->lengths, burst->lengths, burst->count * sizeof(held->lengths[0]));
}

/* Defines STAGES(worker, burst): FIRST(flight, count) for the newest flight, LATER(worker, due, newest, count) for the one that is due. */
#define PEER_STAGES(STAGES, FIRST, LATER)                                                                                   \
	static struct flight flights[2];                                                                                    \
                                                                                                                            \
	static void STAGES(struct worker *worker, struct burst *burst)                                                      \
	{                                                                                                                   \
		static uint32_t newest;                                                                                     \
		struct flight *flight = &flights[AHEAD ? newest ^= 1 : 0];                                                  \
		struct flight *due = AHEAD ? &flights[newest ^ 1] : flight;                                                 \
                                                                                                                            \
		held_take(&flight->held, burst);                                                                            \
		PEER_COUNTS(burst->count, FIRST, flight);                                                                   \
		if (due->held.burst.count != 0)                                                                             \
			PEER_COUNTS(due->held.burst.count, LATER, worker, due, flight);                                     \
		if (AHEAD)                                                                                                  \
			due->held.burst.count = 0;                                                                          \
	}

#endif
