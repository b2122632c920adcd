/* An idle worker sleeps in the kernel until one of its interfaces has a packet, or the control thread calls it. Part of each port layer.
 *
 *    worker                                    control thread
 *    sleeping = 1 (seq_cst)                    attention = 1, or stop = 1 (seq_cst)
 *    attention or stop? then do not sleep      sleeping? then write to `rouse`
 *    poll
 *    sleeping = 0 (seq_cst): what is looked up from here on is as writers have left it
 *
 * One of both sees the other; likewise with a worker that hands packets over (spread.h). The control thread sleeps in the same way: behind each burst with
 * packets, a worker looks whether it does, and it looks at `sleeping` when it has stored that it sleeps. So it does not matter what ended the worker's sleep
 * before. A writer does not wait for a worker that sleeps: it has had empty bursts enough to hold nothing. */
#ifndef BACUS_SLEEP_H
#define BACUS_SLEEP_H

#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "port/host.h"
#include "port/spread.h"

#define SLEEP_FILES 1024u	/* of which one is the control thread's */
#define SLEEP_NS 100000000u	/* at most; the control thread calls when an interface is back, which has other sockets then */
#define SLEEP_PAUSE_NS 100000u	/* behind a packet that came after a sleep */
#define SLEEP_AFTER_NS 100000u	/* without a packet */
#define SLEEP_AFTER_POLLS 512u	/* and so many empty bursts: pipelines hold packets over fewer */
#define SLEEP_SLICE_NS 100000u	/* of processor time, the least that the kernel takes */

struct sleeper {
	uint32_t count;
	struct pollfd files[SLEEP_FILES];
};

static inline void
sleeper_begin(struct sleeper *sleeper, const struct worker *worker)
{
	const struct host *host = worker->host;

	sleeper->count = 1;
	sleeper->files[0] = (struct pollfd){ .fd = host->wake, .events = POLLIN };
}

/* A socket that wakes the worker. Those without room are looked at when the time is over. */
static inline void
sleeper_add(struct sleeper *sleeper, int file)
{
	if (file >= 0 && sleeper->count < SLEEP_FILES)
		sleeper->files[sleeper->count++] = (struct pollfd){ .fd = file, .events = POLLIN };
}

static inline void
sleeper_sleep(struct sleeper *sleeper, struct worker *worker, const _Atomic uint32_t *stop, long most_ns)
{
	const struct timespec most = { .tv_nsec = most_ns };
	struct host *host = worker->host;
	char byte;

	atomic_store(&host->sleeping, 1);
	if (atomic_load(&host->attention) == 0 && atomic_load(stop) == 0 && !spread_waits(worker->id))
		(void)ppoll(sleeper->files, sleeper->count, &most, NULL);
	atomic_store(&host->sleeping, 0);
	while ((sleeper->files[0].revents & POLLIN) != 0 && recv(host->wake, &byte, sizeof(byte), MSG_DONTWAIT) > 0)
		;
}

/* What sched_setattr(2) takes in its first version. The C library has it under names that not all versions share. */
struct sleep_attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

/* Asks the kernel for a short slice: since 6.12, a thread with a shorter slice than the one that runs takes the core when it is woken, and does not wait for
 * milliseconds until a compiler's slice beside it has ended. Its share of the core stays. Other kernels and policies are left as they are. */
static inline void
sleeper_hurry(void)
{
	struct sleep_attributes own = { 0 };

	if (syscall(SYS_sched_getattr, 0, &own, sizeof(own), 0) != 0 || own.policy != SCHED_OTHER)
		return;
	own.size = sizeof(own);
	own.runtime = SLEEP_SLICE_NS;
	(void)syscall(SYS_sched_setattr, 0, &own, 0);
}

/* What a worker has seen of packets. */
struct idleness {
	uint64_t polls;		/* empty ones since the last packet */
	uint64_t packet_ns;	/* when that came, */
	uint64_t before_ns;	/* and the one before it */
};

/* Packets have come, and were processed. Wakes the control thread, which looks often then at what the program has for it. */
static inline void
idleness_end(struct idleness *idleness, const struct worker *worker)
{
	const struct host *host = worker->host;
	const char byte = 0;

	if (host->control_sleeps != NULL && atomic_load(host->control_sleeps) != 0)
		(void)send(host->control_rouse, &byte, sizeof(byte), MSG_DONTWAIT | MSG_NOSIGNAL);
	idleness->polls = 0;
	idleness->before_ns = idleness->packet_ns;
	idleness->packet_ns = worker->clock_ns;
}

/* Counts an empty poll. How long the worker sleeps now if it may, in nanoseconds; 0: it polls again, when other threads of its core have run for a while behind
 * `spins` polls.
 *
 * A thread that waits for a packet that was just sent may wait for this core as well. By sched_yield(2) it gets the core only when its share is due, which took
 * 30 yields here. So behind a single packet, the worker sleeps for a short time as soon as the pipeline holds nothing. Where packets follow each other, it
 * polls. On a busy machine, a yield may take milliseconds: the last polls before a long sleep come one after the other. */
static inline long
idleness_go_on(struct idleness *idleness, const struct worker *worker, const struct pipeline *pipeline, int may_sleep, uint32_t spins)
{
	idleness->polls++;
	if (may_sleep && worker->clock_ns - idleness->packet_ns > SLEEP_AFTER_NS)
		return idleness->polls > SLEEP_AFTER_POLLS ? SLEEP_NS : 0;
	if (may_sleep && idleness->packet_ns - idleness->before_ns > SLEEP_AFTER_NS && idleness->polls == pipeline->held_bursts + 2u)
		return SLEEP_PAUSE_NS;
	if (idleness->polls > spins)
		(void)sched_yield();
	return 0;
}

/* Whether the worker may sleep at all. */
static inline int
sleeper_may(const struct worker *worker, uint32_t polls)
{
	const struct host *host = worker->host;

	return !polls && host->wake >= 0;
}

#endif
