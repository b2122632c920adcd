/* A memif port's thread: it connects to the port's peer, notices when that is gone or breaks the protocol, and connects again. */
#define _GNU_SOURCE
#include "port/memif.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECT_NS 2000000000u	/* within which a peer connects once it has begun */
#define AGAIN_MS 100		/* between two attempts of a client */
#define DRAIN_MS 100u		/* for packets of a peer that is gone */
#define SAY_NS 1000000000u	/* between two lines about peers */

static uint64_t
now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Reports why a peer is refused. A peer that tries again and again does not fill the log. */
static void
say(struct memif *memif, const char *why)
{
	const uint64_t now = now_ns();

	if (memif->said_ns != 0 && now - memif->said_ns < SAY_NS)
		return;
	memif->said_ns = now;
	fprintf(stderr, "note: port %u (memif:%s): disconnected: %s\n", memif->number, memif->name, why);
}

static void
take_link(struct memif *memif, struct memif_link *link, enum memif_state state)
{
	struct memif_link *old;
	const uint64_t one = 1;

	port_lock(&memif->receiving);
	port_lock(&memif->sending);
	old = memif->link;
	if (old != NULL)
		atomic_fetch_add(&memif->missed, memif_waiting(old));
	memif->link = link;
	atomic_store(&memif->broken, NULL);
	atomic_store(&memif->state, state);
	port_unlock(&memif->sending);
	port_unlock(&memif->receiving);
	(void)!write(memif->rouse, &one, sizeof(one));
	memif_link_close(old);
}

static int
has_packets(struct memif *memif)
{
	int has;

	port_lock(&memif->receiving);
	has = memif->link != NULL && memif_waiting(memif->link) != 0;
	port_unlock(&memif->receiving);
	return has;
}

/* What the peer has sent before it went is taken yet, if the worker comes to it in time. */
static void
drain(struct memif *memif)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	atomic_store(&memif->state, MEMIF_ENDING);
	for (uint32_t i = 0; i < DRAIN_MS && atomic_load(&memif->broken) == NULL && has_packets(memif); i++)
		(void)nanosleep(&pause, NULL);
}

/* `why`: for the peer and the user; NULL: the peer is gone. */
static void
disconnect(struct memif *memif, const char *why)
{
	if (why != NULL) {
		say(memif, why);
		memif_send_disconnect(memif->socket, why);
	}
	if (memif->socket >= 0)
		(void)close(memif->socket);
	memif->socket = -1;
	memif_link_close(memif->coming);
	memif->coming = NULL;
	memif->step = 0;
	if (atomic_load(&memif->state) == MEMIF_TOGETHER) {
		if (why == NULL)
			drain(memif);
		take_link(memif, NULL, MEMIF_ALONE);
	}
}

static const char *
send_message(struct memif *memif, const struct memif_message *message)
{
	return memif_message_send(memif->socket, message) == 0 ? NULL : "it takes no messages";
}

static const char *
acknowledge(struct memif *memif)
{
	const struct memif_message message = memif_message_of(MEMIF_ACK);

	return send_message(memif, &message);
}

static void
together(struct memif *memif)
{
	struct memif_link *link = memif->coming;

	memif->coming = NULL;
	take_link(memif, link, MEMIF_TOGETHER);
}

/* A server's greeting. */
static const char *
greet(struct memif *memif)
{
	struct memif_message message = memif_message_of(MEMIF_HELLO);

	memif_set_text(&message, 2, 32, "bacus");
	memif_set(&message, 34, 2, MEMIF_VERSION);
	memif_set(&message, 36, 2, MEMIF_VERSION);
	memif_set(&message, 38, 2, MEMIF_REGIONS - 1);
	memif_set(&message, 40, 2, 0);
	memif_set(&message, 42, 2, 0);
	memif_set(&message, 44, 1, MEMIF_MOST_SLOTS_LOG2);
	return send_message(memif, &message);
}

static const char *
admit(struct memif *memif, const struct memif_message *init)
{
	if (memif_field(init, 2, 2) != MEMIF_VERSION)
		return "it has another version of memif";
	if (memif_field(init, 4, 4) != memif->id)
		return "it asks for another id than this port's";
	if (memif_field(init, 8, 1) != 0)
		return "it does not send Ethernet frames";
	if (memif->secret[0] != 0 && memcmp(init->bytes + 9, memif->secret, MEMIF_SECRET) != 0)
		return "it has not the secret";
	memif->coming = memif_link_await();
	return memif->coming == NULL ? "no memory" : acknowledge(memif);
}

static const char *
answer_connect(struct memif *memif)
{
	struct memif_message message = memif_message_of(MEMIF_CONNECTED);
	const char *why = memif_link_begin(memif->coming);

	if (why != NULL)
		return why;
	together(memif);
	memif_set_text(&message, 2, 32, "bacus");
	return send_message(memif, &message);
}

/* Takes the message's file. */
static const char *
server_hears(struct memif *memif, struct memif_message *message)
{
	const int file = message->file;
	const char *why;

	if (memif->coming == NULL && memif_kind_of(message) != MEMIF_INIT)
		return "it sends a message out of order";
	switch (memif_kind_of(message)) {
	case MEMIF_INIT:
		return memif->coming != NULL ? "it sends a message out of order" : admit(memif, message);
	case MEMIF_ADD_REGION:
		message->file = -1;
		why = memif_link_add_region(memif->coming, (uint32_t)memif_field(message, 2, 2), memif_field(message, 4, 8), file);
		return why != NULL ? why : acknowledge(memif);
	case MEMIF_ADD_RING:
		message->file = -1;
		why = memif_link_add_ring(memif->coming, memif_field(message, 2, 2) & 1, (uint32_t)memif_field(message, 4, 2),
			(uint32_t)memif_field(message, 6, 2), (uint32_t)memif_field(message, 8, 4), (uint32_t)memif_field(message, 12, 1), file);
		return why != NULL ? why : acknowledge(memif);
	case MEMIF_CONNECT:
		return answer_connect(memif);
	default:
		return "it sends a message out of order";
	}
}

static const char *
introduce(struct memif *memif, const struct memif_message *hello)
{
	struct memif_message message = memif_message_of(MEMIF_INIT);
	const uint32_t most = (uint32_t)memif_field(hello, 44, 1);
	const char *why;

	if (memif_field(hello, 34, 2) > MEMIF_VERSION || memif_field(hello, 36, 2) < MEMIF_VERSION)
		return "it has another version of memif";
	memif->coming = memif_link_create(most < memif->slots_log2 ? most : memif->slots_log2, memif->buffer_bytes, &why);
	if (memif->coming == NULL)
		return why;
	memif_set(&message, 2, 2, MEMIF_VERSION);
	memif_set(&message, 4, 4, memif->id);
	memcpy(message.bytes + 9, memif->secret, MEMIF_SECRET);
	memif_set_text(&message, 33, 32, "bacus");
	return send_message(memif, &message);
}

/* What a client has behind INIT, one message for each ACK. */
static const char *
go_on(struct memif *memif)
{
	static const enum memif_kind steps[] = { MEMIF_ADD_REGION, MEMIF_ADD_RING, MEMIF_ADD_RING, MEMIF_CONNECT };
	const struct memif_link *link = memif->coming;
	const uint32_t step = memif->step++;
	const int to_server = step == 1;
	const struct memif_queue *queue = to_server ? &link->send : &link->receive;
	struct memif_message message;

	if (step >= sizeof(steps) / sizeof(steps[0]))
		return "it sends a message out of order";
	message = memif_message_of(steps[step]);
	if (steps[step] == MEMIF_ADD_REGION) {
		message.file = link->regions[0].file;
		memif_set(&message, 4, 8, link->regions[0].bytes);
	} else if (steps[step] == MEMIF_ADD_RING) {
		message.file = queue->event;
		memif_set(&message, 2, 2, (uint64_t)to_server);
		memif_set(&message, 8, 4, (uint64_t)((const uint8_t *)queue->ring - link->regions[0].memory));
		memif_set(&message, 12, 1, (uint64_t)__builtin_ctz(queue->size));
	} else {
		memif_set_text(&message, 2, 32, "bacus");
	}
	return send_message(memif, &message);
}

static const char *
client_hears(struct memif *memif, const struct memif_message *message)
{
	const uint32_t kind = memif_kind_of(message);

	if (memif->coming == NULL)
		return kind == MEMIF_HELLO && atomic_load(&memif->state) == MEMIF_ALONE ? introduce(memif, message) : "it sends a message out of order";
	if (kind == MEMIF_ACK)
		return go_on(memif);
	if (kind != MEMIF_CONNECTED || memif->step != 4)
		return "it sends a message out of order";
	together(memif);
	return NULL;
}

/* All messages that have come. */
static void
hear(struct memif *memif)
{
	while (memif->socket >= 0) {
		struct memif_message message;
		const int got = memif_message_receive(memif->socket, &message);
		const char *why;

		if (got == 0)
			return;
		if (got < 0 || memif_kind_of(&message) == MEMIF_DISCONNECT) {
			if (got > 0 && message.file >= 0)
				(void)close(message.file);
			disconnect(memif, NULL);
			return;
		}
		why = memif->is_client ? client_hears(memif, &message) : server_hears(memif, &message);
		if (message.file >= 0)
			(void)close(message.file);
		if (why != NULL)
			disconnect(memif, why);
	}
}

static void
accept_peer(struct memif *memif)
{
	const int socket = accept4(memif->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	const char *why;

	if (socket < 0)
		return;
	if (memif->socket >= 0) {
		memif_send_disconnect(socket, "already connected");
		(void)close(socket);
		return;
	}
	memif->socket = socket;
	memif->deadline_ns = now_ns() + CONNECT_NS;
	why = greet(memif);
	if (why != NULL)
		disconnect(memif, why);
}

/* A client's attempt; there may be no server yet. */
static void
attempt(struct memif *memif)
{
	const int connected = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (connected < 0)
		return;
	if (connect(connected, (void *)&memif->address, memif->address_bytes) != 0) {
		(void)close(connected);
		return;
	}
	memif->socket = connected;
	memif->deadline_ns = now_ns() + CONNECT_NS;
}

static void *
run(void *of)
{
	struct memif *memif = of;

	while (atomic_load(&memif->stop) == 0) {
		struct pollfd files[] = {
			{ .fd = memif->wake, .events = POLLIN }, { .fd = memif->socket, .events = POLLIN }, { .fd = memif->listener, .events = POLLIN },
		};
		const char *broken;
		uint64_t events;

		(void)poll(files, 3, AGAIN_MS);
		if ((files[0].revents & POLLIN) != 0)
			(void)!read(memif->wake, &events, sizeof(events));
		broken = atomic_load(&memif->broken);
		if (broken != NULL)
			disconnect(memif, broken);
		else if (memif->socket >= 0 && files[1].revents != 0)
			hear(memif);
		if ((files[2].revents & POLLIN) != 0)
			accept_peer(memif);
		if (memif->is_client && memif->socket < 0)
			attempt(memif);
		if (memif->socket >= 0 && atomic_load(&memif->state) == MEMIF_ALONE && now_ns() > memif->deadline_ns)
			disconnect(memif, "it has begun to connect and does not go on");
	}
	return NULL;
}

/* A server's socket. What a process has left that is no more is replaced. */
static int
listen_at(struct memif *memif, char *error)
{
	const char *name = memif->name;
	int probe;

	memif->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (memif->address.sun_path[0] != 0 && connect(probe, (void *)&memif->address, memif->address_bytes) != 0 && errno == ECONNREFUSED)
		(void)unlink(memif->address.sun_path);
	(void)close(probe);
	if (bind(memif->listener, (void *)&memif->address, memif->address_bytes) != 0)
		return port_fail(error, "the socket `%s`: %s%s", name, strerror(errno), errno == EADDRINUSE ? ": each server needs a socket of its own" : "");
	return listen(memif->listener, 8) == 0 ? 0 : port_fail(error, "the socket `%s`: %s", name, strerror(errno));
}

int
memif_connect_begin(struct memif *memif, char *error)
{
	sigset_t all, before;
	int failure;

	memif->socket = memif->listener = -1;
	memif->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	memif->rouse = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (memif->wake < 0 || memif->rouse < 0)
		return port_fail(error, "no file for events");
	if (!memif->is_client && listen_at(memif, error) != 0)
		return -1;
	/* Signals are for the process's own threads. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	failure = pthread_create(&memif->thread, NULL, run, memif);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failure == 0 ? 0 : port_fail(error, "no thread for `%s`: %s", memif->name, strerror(failure));
}

void
memif_connect_end(struct memif *memif)
{
	const uint64_t one = 1;

	atomic_store(&memif->stop, 1);
	(void)!write(memif->wake, &one, sizeof(one));
	(void)pthread_join(memif->thread, NULL);
	if (memif->socket >= 0)
		memif_send_disconnect(memif->socket, "the switch ends");
	if (memif->socket >= 0)
		(void)close(memif->socket);
	memif_link_close(memif->coming);
	take_link(memif, NULL, MEMIF_ALONE);
	if (memif->listener >= 0 && memif->address.sun_path[0] != 0)
		(void)unlink(memif->address.sun_path);
	if (memif->listener >= 0)
		(void)close(memif->listener);
	(void)close(memif->wake);
	(void)close(memif->rouse);
}
