/* A memif port: packets out of the shared memory and into it, and what the layer asks. */
#define _GNU_SOURCE
#include "port/memif.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define DEFAULT_SLOTS 1024u
#define DEFAULT_BUFFER 2048u
#define LEAST_SLOTS_LOG2 5u

/* The connection ends when the port's thread comes to it. The burst's locks are held. */
static void
break_off(struct memif *memif, const char *why)
{
	const uint64_t one = 1;

	atomic_store(&memif->broken, why);
	(void)!write(memif->wake, &one, sizeof(one));
}

uint32_t
memif_ready(const struct memif_link *link)
{
	const struct memif_queue *queue = &link->receive;
	const uint16_t at = link->is_client ? atomic_load_explicit(&queue->ring->tail, memory_order_acquire)
		: atomic_load_explicit(&queue->ring->head, memory_order_acquire);
	const uint16_t ready = (uint16_t)(at - queue->next);
	const uint32_t most = link->is_client ? (uint16_t)(queue->given - queue->next) : queue->size;

	return ready <= most ? ready : UINT32_MAX;
}

uint32_t
memif_waiting(const struct memif_link *link)
{
	const uint32_t ready = memif_ready(link);
	uint32_t packets = 0;

	for (uint32_t i = 0; ready != UINT32_MAX && i < ready; i++)
		packets += (memif_descriptor(&link->receive, (uint16_t)(link->receive.next + i)).flags & MEMIF_NEXT) == 0;
	return packets;
}

/* The buffer of a slot that the peer has filled. A client has its own word for where it is. */
static const uint8_t *
filled(const struct memif_link *link, uint16_t slot, const struct memif_descriptor *of)
{
	if (!link->is_client)
		return memif_bytes(link, of);
	if (of->length > link->buffer_bytes)
		return NULL;
	return link->regions[0].memory + link->receive.buffers + (slot & (link->receive.size - 1)) * link->buffer_bytes;
}

/* Copies the packet at the front of the receive ring. How many slots it had. `*length` 0: it is none, or longer than `room`. */
static uint32_t
copy_in(const struct memif_link *link, uint32_t ready, uint8_t *to, uint32_t room, uint32_t *length)
{
	uint32_t bytes = 0, slots = 0, is_wrong = 0;
	struct memif_descriptor of;

	do {
		const uint16_t slot = (uint16_t)(link->receive.next + slots++);
		const uint8_t *from;

		of = memif_descriptor(&link->receive, slot);
		from = filled(link, slot, &of);
		is_wrong |= from == NULL || of.length > room - bytes;
		if (!is_wrong && to != NULL)
			memcpy(to + bytes, from, of.length);
		bytes += is_wrong ? 0 : of.length;
	} while ((of.flags & MEMIF_NEXT) != 0 && slots < ready);
	*length = is_wrong || (of.flags & MEMIF_NEXT) != 0 ? 0 : bytes;
	return slots;
}

/* Slots that were read are the peer's again. An empty poll writes nothing, which the peer would have to read. */
static void
give_back(struct memif_link *link, uint32_t slots)
{
	struct memif_queue *queue = &link->receive;

	if (slots == 0 && (!link->is_client || queue->given != queue->next))
		return;
	if (!link->is_client) {
		atomic_store_explicit(&queue->ring->tail, queue->next, memory_order_release);
		return;
	}
	for (; (uint16_t)(queue->given - queue->next) < queue->size; queue->given++) {
		const uint32_t at = queue->given & (queue->size - 1);

		queue->ring->descriptors[at] = (struct memif_descriptor){ .length = link->buffer_bytes, .offset = queue->buffers + at * link->buffer_bytes };
	}
	atomic_store_explicit(&queue->ring->head, queue->given, memory_order_release);
}

static uint16_t
take(struct memif *memif, struct memif_link *link, struct pool *pool, void **packets, uint16_t *lengths, uint16_t most)
{
	const uint32_t came = memif_ready(link);
	uint32_t ready = came, length, slots, count = 0;
	uint64_t bytes = 0;

	if (came == UINT32_MAX) {
		break_off(memif, "its index is beyond the ring");
		return 0;
	}
	for (; count < most && ready != 0; ready -= slots, link->receive.next += (uint16_t)slots) {
		void *packet = pool->allocate(pool);

		slots = copy_in(link, ready, packet, memif->longest, &length);
		if (length == 0)
			port_count(&memif->errors, 1);
		else if (packet == NULL)
			port_count(&memif->missed, 1);
		if (packet == NULL)
			continue;
		if (length == 0) {
			own_free(pool->handle, &packet, 1);
			continue;
		}
		packets[count] = packet;
		lengths[count++] = (uint16_t)length;
		bytes += length;
	}
	give_back(link, came - ready);
	port_count(&memif->received, count);
	port_count(&memif->received_bytes, bytes);
	return (uint16_t)count;
}

uint16_t
memif_receive(struct memif *memif, struct pool *pool, void **packets, uint16_t *lengths, uint16_t count)
{
	uint16_t taken = 0;

	port_lock(&memif->receiving);
	if (memif->link != NULL && atomic_load_explicit(&memif->broken, memory_order_relaxed) == NULL)
		taken = take(memif, memif->link, pool, packets, lengths, count);
	port_unlock(&memif->receiving);
	return taken;
}

/* Slots of the send ring that may be filled. UINT32_MAX: the peer's index cannot be. */
static uint32_t
room_of(const struct memif_link *link)
{
	const struct memif_queue *queue = &link->send;
	const uint16_t at = link->is_client ? (uint16_t)(queue->next - atomic_load_explicit(&queue->ring->tail, memory_order_acquire))
		: (uint16_t)(atomic_load_explicit(&queue->ring->head, memory_order_acquire) - queue->next);

	if (at > queue->size)
		return UINT32_MAX;
	return link->is_client ? queue->size - at : at;
}

/* An empty buffer, as the client has described it. */
static struct memif_descriptor
empty(const struct memif_link *link, uint16_t slot)
{
	const uint32_t at = slot & (link->send.size - 1);

	if (!link->is_client)
		return memif_descriptor(&link->send, slot);
	return (struct memif_descriptor){ .length = link->buffer_bytes, .offset = link->send.buffers + at * link->buffer_bytes };
}

/* Copies a packet to the send ring. How many slots it took; 0: there are not enough, UINT32_MAX: a buffer is not within its region. */
static uint32_t
copy_out(const struct memif_link *link, uint32_t room, const uint8_t *from, uint32_t length)
{
	uint32_t slots = 0;

	while (slots < room) {
		const uint16_t slot = (uint16_t)(link->send.next + slots++);
		struct memif_descriptor to = empty(link, slot);
		uint8_t *memory = memif_bytes(link, &to);

		if (memory == NULL || to.length == 0)
			return UINT32_MAX;
		to.length = to.length < length ? to.length : length;
		to.flags = to.length < length ? MEMIF_NEXT : 0;
		memcpy(memory, from, to.length);
		link->send.ring->descriptors[slot & (link->send.size - 1)] = to;
		from += to.length;
		length -= to.length;
		if (length == 0)
			return slots;
	}
	return 0;
}

/* Wakes the peer, if it sleeps. It has the file as well, and may have let it count to its end: a write would wait then. */
static void
rouse(const struct memif_link *link)
{
	struct pollfd event = { .fd = link->send.event, .events = POLLOUT };
	const uint64_t one = 1;

	atomic_thread_fence(memory_order_seq_cst);
	if ((atomic_load_explicit(&link->send.ring->flags, memory_order_relaxed) & MEMIF_QUIET) != 0)
		return;
	if (poll(&event, 1, 0) == 1 && (event.revents & POLLOUT) != 0)
		(void)!write(link->send.event, &one, sizeof(one));
}

static uint16_t
put(struct memif *memif, struct memif_link *link, void *const *packets, const uint16_t *lengths, uint16_t most, uint64_t *refused)
{
	struct memif_queue *queue = &link->send;
	uint32_t room = room_of(link), slots, count = 0;
	uint64_t bytes = 0, sent = 0;

	for (; count < most && room != UINT32_MAX; count++) {
		slots = copy_out(link, room, packets[count], lengths[count]);
		if (slots == UINT32_MAX)
			room = UINT32_MAX;
		if (slots == UINT32_MAX || (slots == 0 && room < queue->size))
			break;
		/* One that not even an empty ring holds. */
		*refused += slots == 0;
		sent += slots != 0;
		bytes += slots != 0 ? lengths[count] : 0;
		room -= slots;
		queue->next += (uint16_t)slots;
	}
	atomic_store_explicit(link->is_client ? &queue->ring->head : &queue->ring->tail, queue->next, memory_order_release);
	if (sent != 0)
		rouse(link);
	atomic_fetch_add_explicit(&memif->sent, sent, memory_order_relaxed);
	atomic_fetch_add_explicit(&memif->sent_bytes, bytes, memory_order_relaxed);
	if (room == UINT32_MAX)
		break_off(memif, "its ring for packets to it is not right");
	return (uint16_t)count;
}

uint16_t
memif_send(struct memif *memif, void *const *packets, const uint16_t *lengths, uint16_t count, uint64_t *refused)
{
	uint16_t taken = count;

	port_lock(&memif->sending);
	if (memif->link != NULL && atomic_load_explicit(&memif->state, memory_order_relaxed) == MEMIF_TOGETHER &&
		atomic_load_explicit(&memif->broken, memory_order_relaxed) == NULL)
		taken = put(memif, memif->link, packets, lengths, count, refused);
	else
		*refused += count;
	port_unlock(&memif->sending);
	return taken;
}

int
memif_arm(struct memif *memif)
{
	int file = memif->rouse;

	port_lock(&memif->receiving);
	if (memif->link != NULL) {
		atomic_store(&memif->link->receive.ring->flags, 0);
		file = memif_ready(memif->link) == 0 ? memif->link->receive.event : -1;
	}
	port_unlock(&memif->receiving);
	return file;
}

/* The peer may have let its file wait for events: this does not. */
void
memif_disarm(struct memif *memif)
{
	uint64_t events;
	const struct iovec part = { &events, sizeof(events) };

	(void)!read(memif->rouse, &events, sizeof(events));
	port_lock(&memif->receiving);
	if (memif->link != NULL) {
		atomic_store(&memif->link->receive.ring->flags, MEMIF_QUIET);
		(void)!preadv2(memif->link->receive.event, &part, 1, -1, RWF_NOWAIT);
	}
	port_unlock(&memif->receiving);
}

void
memif_counts(struct memif *memif, struct port_counts *counts)
{
	*counts = (struct port_counts){
		.received = atomic_load(&memif->received), .received_bytes = atomic_load(&memif->received_bytes),
		.sent = atomic_load(&memif->sent), .sent_bytes = atomic_load(&memif->sent_bytes),
		.missed = atomic_load(&memif->missed), .errors = atomic_load(&memif->errors), .link = memif_link_state(memif),
	};
	port_lock(&memif->receiving);
	if (memif->link != NULL)
		counts->waiting = memif_waiting(memif->link);
	port_unlock(&memif->receiving);
}

enum link_state
memif_link_state(const struct memif *memif)
{
	return atomic_load(&memif->state) == MEMIF_TOGETHER ? LINK_UP : LINK_DOWN;
}

/* A number of an argument; -1: it is none, or not within its bounds. */
static long
number_of(const char *text, long least, long most)
{
	char *end;
	const long value = strtol(text, &end, 10);

	return *text == 0 || *end != 0 || value < least || value > most ? -1 : value;
}

static int
set_argument(struct memif *memif, const char *name, const char *value, char *error)
{
	if (strcmp(name, "role") == 0) {
		memif->is_client = strcmp(value, "client") == 0 || strcmp(value, "slave") == 0;
		if (!memif->is_client && strcmp(value, "server") != 0 && strcmp(value, "master") != 0)
			return port_fail(error, "`role=%s`: write role=server or role=client", value);
	} else if (strcmp(name, "id") == 0) {
		const long id = number_of(value, 0, UINT32_MAX);

		if (id < 0)
			return port_fail(error, "`id=%s`: an id is a number up to %u", value, UINT32_MAX);
		memif->id = (uint32_t)id;
	} else if (strcmp(name, "bsize") == 0) {
		const long bytes = number_of(value, 64, 65536);

		if (bytes < 0 || bytes % 64 != 0)
			return port_fail(error, "`bsize=%s`: buffers have 64 to 65536 bytes, in steps of 64", value);
		memif->buffer_bytes = (uint32_t)bytes;
	} else if (strcmp(name, "secret") == 0) {
		if (*value == 0 || strlen(value) >= MEMIF_SECRET)
			return port_fail(error, "`secret=%s`: a secret has 1 to %u bytes", value, MEMIF_SECRET - 1);
		memcpy(memif->secret, value, strlen(value));
	} else {
		return port_fail(error, "`%s` is no argument of memif: these are role, id, secret and bsize", name);
	}
	return 0;
}

/* A path, or `@` and an abstract name. */
static int
set_address(struct memif *memif, const char *path, char *error)
{
	const size_t length = strlen(path);

	if (length < 2 || length >= sizeof(memif->address.sun_path))
		return port_fail(error, "the socket `%s` needs a path of at most %zu bytes", path, sizeof(memif->address.sun_path) - 1);
	memif->address.sun_family = AF_UNIX;
	memcpy(memif->address.sun_path, path, length);
	memcpy(memif->name, path, length);
	if (*path == '@')
		memif->address.sun_path[0] = 0;
	memif->address_bytes = sizeof(memif->address);
	return 0;
}

static int
set_arguments(struct memif *memif, char *text, char *error)
{
	char *rest, *word = strtok_r(text, ",", &rest);

	if (word == NULL)
		return port_fail(error, "a socket must be named, as in memif:/run/x.sock,role=server");
	if (set_address(memif, word, error) != 0)
		return -1;
	while ((word = strtok_r(NULL, ",", &rest)) != NULL) {
		char *value = strchr(word, '=');

		if (value != NULL)
			*value = 0;
		if (set_argument(memif, word, value == NULL ? "" : value + 1, error) != 0)
			return -1;
	}
	return 0;
}

struct memif *
memif_open(uint16_t number, const char *device, uint32_t slots, char *error)
{
	struct memif *memif = calloc(1, sizeof(*memif));
	char *text = strdup(device);
	const uint32_t log2 = 31u - (uint32_t)__builtin_clz(slots == 0 ? DEFAULT_SLOTS : slots);

	if (memif == NULL || text == NULL) {
		(void)port_fail(error, "no memory for `memif:%s`", device);
	} else {
		memif->number = number;
		memif->buffer_bytes = DEFAULT_BUFFER;
		memif->slots_log2 = log2 < LEAST_SLOTS_LOG2 ? LEAST_SLOTS_LOG2 : log2 > MEMIF_MOST_SLOTS_LOG2 ? MEMIF_MOST_SLOTS_LOG2 : log2;
		if (set_arguments(memif, text, error) == 0 && memif_connect_begin(memif, error) == 0) {
			free(text);
			return memif;
		}
	}
	free(text);
	free(memif);
	return NULL;
}

void
memif_close(struct memif *memif)
{
	memif_connect_end(memif);
	free(memif);
}
