/* Where a thread's time goes: the addresses of its instructions, noted by a timer's signal. Part of the host. */
#ifndef BACUS_PORT_SAMPLER_H
#define BACUS_PORT_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

/* From now on the calling thread's place is noted every `period_ns`, up to `room` times. 0 if the system has no such timer. */
int sampler_begin(uint64_t *places, size_t room, uint64_t period_ns);

/* Ends it; how many places were noted. */
size_t sampler_end(void);

#endif
