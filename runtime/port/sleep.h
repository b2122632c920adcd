/* An idle worker sleeps in the kernel until one of its interfaces has a packet, or the control thread calls it. Part of each port layer.
 *
 *    worker                                    control thread
 *    sleeping = 1 (seq_cst)                    attention = 1, or stop = 1 (seq_cst)
 *    attention or stop? then do not sleep      sleeping? then write to `rouse`
 *    poll
 *    sleeping = 0 (seq_cst): what is looked up from here on is as writers have left it
 *
 * One of both sees the other; likewise with a worker that hands packets over (spread.h). A writer does not wait for a worker that sleeps: it has had
 * empty bursts enough to hold nothing. */
#ifndef BACUS_SLEEP_H
#define BACUS_SLEEP_H

#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "port/host.h"
#include "port/spread.h"

#define SLEEP_FILES 1024u	/* of which one is the control thread's */
#define SLEEP_MS 20		/* at most: an interface that is back has other sockets */
#define SLEEP_AFTER_NS 100000u	/* without a packet */
#define SLEEP_AFTER_POLLS 512u	/* and so many empty bursts: pipelines hold packets over fewer */

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
sleeper_sleep(struct sleeper *sleeper, struct worker *worker, const _Atomic uint32_t *stop)
{
	struct host *host = worker->host;
	char byte;

	atomic_store(&host->sleeping, 1);
	if (atomic_load(&host->attention) == 0 && atomic_load(stop) == 0 && !spread_waits(worker->id))
		(void)poll(sleeper->files, sleeper->count, SLEEP_MS);
	atomic_store(&host->sleeping, 0);
	while ((sleeper->files[0].revents & POLLIN) != 0 && recv(host->wake, &byte, sizeof(byte), MSG_DONTWAIT) > 0)
		;
}

/* Whether the worker may sleep at all. */
static inline int
sleeper_may(const struct worker *worker, uint32_t polls)
{
	const struct host *host = worker->host;

	return !polls && host->wake >= 0;
}

#endif
