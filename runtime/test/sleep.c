/* What wakes a worker that sleeps, and when that wakes the control thread. */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <unistd.h>

#include "port/host.h"
#include "port/sleep.h"
#include "test.h"

#define LONG_NS 999999999L	/* of a sleep that something ends */

/* Bytes that wait at a socket. */
static uint32_t
waiting(int file)
{
	uint32_t count = 0;
	char byte;

	while (recv(file, &byte, sizeof(byte), MSG_DONTWAIT) > 0)
		count++;
	return count;
}

/* The worker sleeps with what is sent to it before: a packet at its port, and a call. Whatever has ended the sleep, it then finds packets or none. How often
 * the control thread was woken. */
static uint32_t
woken(struct worker *worker, const int control[2], const int port[2], const int wake[2], uint32_t packets, uint32_t calls, int finds)
{
	const _Atomic uint32_t stop = 0;
	const struct host *host = worker->host;
	static struct sleeper sleeper;
	struct idleness idleness = { 0 };

	sleeper_begin(&sleeper, worker);
	sleeper_add(&sleeper, port[0]);
	CHECK(packets == 0 || send(port[1], "", 1, 0) == 1);
	CHECK(calls == 0 || send(wake[1], "", 1, 0) == 1);
	sleeper_sleep(&sleeper, worker, &stop, packets + calls == 0 ? 1000 : LONG_NS);
	CHECK(atomic_load(&host->sleeping) == 0 && waiting(wake[0]) == 0);
	CHECK(waiting(port[0]) == packets);
	CHECK(waiting(control[0]) == 0);
	if (finds)
		idleness_end(&idleness, worker);
	return waiting(control[0]);
}

void
test_sleep(void)
{
	int control[2], port[2], wake[2];
	_Atomic uint32_t sleeps = 0;
	struct host host = { 0 };
	struct worker worker = { .host = &host };

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, control) != 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, port) != 0 ||
	    socketpair(AF_UNIX, SOCK_DGRAM, 0, wake) != 0) {
		perror("socketpair");
		exit(1);
	}
	host.wake = wake[0];
	host.rouse = wake[1];
	host.control_rouse = control[1];
	host.control_sleeps = &sleeps;
	/* A control thread that does not sleep looks by itself. */
	CHECK(woken(&worker, control, port, wake, 1, 0, 1) == 0);
	atomic_store(&sleeps, 1);
	CHECK(woken(&worker, control, port, wake, 1, 0, 1) == 1);
	CHECK(woken(&worker, control, port, wake, 1, 1, 1) == 1);
	/* It is the control thread that calls, and a sleep that ends by itself brings it nothing. */
	CHECK(woken(&worker, control, port, wake, 0, 1, 0) == 0);
	CHECK(woken(&worker, control, port, wake, 0, 0, 0) == 0);
	/* A packet that comes just behind either, or behind a call before the sleep. */
	CHECK(woken(&worker, control, port, wake, 0, 1, 1) == 1);
	CHECK(woken(&worker, control, port, wake, 0, 0, 1) == 1);
	atomic_store(&host.attention, 1);
	CHECK(woken(&worker, control, port, wake, 0, 0, 0) == 0);
	CHECK(woken(&worker, control, port, wake, 0, 0, 1) == 1);
	for (uint32_t i = 0; i < 2; i++) {
		close(control[i]);
		close(port[i]);
		close(wake[i]);
	}
}
