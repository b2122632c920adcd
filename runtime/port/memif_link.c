/* Memif's shared memory: regions, rings, and what is looked at before either is used. */
#define _GNU_SOURCE
#include "port/memif.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_REGION ((uint64_t)1 << 32)	/* what an offset reaches */

static void
close_file(int *file)
{
	if (*file >= 0)
		(void)close(*file);
	*file = -1;
}

struct memif_link *
memif_link_await(void)
{
	struct memif_link *link = calloc(1, sizeof(*link));

	if (link != NULL)
		link->receive.event = link->send.event = -1;
	return link;
}

void
memif_link_close(struct memif_link *link)
{
	if (link == NULL)
		return;
	for (uint32_t i = 0; i < link->region_count; i++) {
		(void)munmap(link->regions[i].memory, link->regions[i].bytes);
		close_file(&link->regions[i].file);
	}
	close_file(&link->receive.event);
	close_file(&link->send.event);
	free(link);
}

static uint64_t
ring_bytes(uint32_t slots_log2)
{
	return sizeof(struct memif_ring) + (sizeof(struct memif_descriptor) << slots_log2);
}

static const char *
map(struct memif_link *link, uint64_t bytes, int file)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (memory == MAP_FAILED)
		return "its memory cannot be mapped";
	link->regions[link->region_count++] = (struct memif_region){ memory, bytes, -1 };
	return NULL;
}

/* Descriptors of the client's buffers. Nothing of them is read back. */
static void
describe(struct memif_queue *queue, struct memif_ring *ring, uint32_t size, uint32_t buffers, uint32_t buffer_bytes)
{
	queue->ring = ring;
	queue->size = size;
	queue->buffers = buffers;
	queue->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	atomic_store(&ring->cookie, MEMIF_COOKIE);
	for (uint32_t i = 0; i < size; i++)
		ring->descriptors[i] = (struct memif_descriptor){ .length = buffer_bytes, .offset = buffers + i * buffer_bytes };
}

struct memif_link *
memif_link_create(uint32_t slots_log2, uint32_t buffer_bytes, const char **why)
{
	const uint32_t size = 1u << slots_log2;
	const uint64_t rings = 2 * ring_bytes(slots_log2), bytes = rings + 2 * (uint64_t)size * buffer_bytes;
	const int file = memfd_create("bacus-memif", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct memif_link *link = memif_link_await();

	*why = "no memory";
	/* The memory is taken now: a page that the system has no room for would end the process when it is written. */
	if (link == NULL || file < 0 || posix_fallocate(file, 0, (off_t)bytes) != 0 || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0 ||
		(*why = map(link, bytes, file)) != NULL) {
		if (file >= 0)
			(void)close(file);
		memif_link_close(link);
		return NULL;
	}
	link->is_client = 1;
	link->buffer_bytes = buffer_bytes;
	link->regions[0].file = file;
	describe(&link->send, (void *)link->regions[0].memory, size, (uint32_t)rings, buffer_bytes);
	describe(&link->receive, (void *)(link->regions[0].memory + rings / 2), size, (uint32_t)rings + size * buffer_bytes, buffer_bytes);
	atomic_store(&link->receive.ring->flags, MEMIF_QUIET);
	if (link->send.event >= 0 && link->receive.event >= 0)
		return link;
	*why = "no file for events";
	memif_link_close(link);
	return NULL;
}

/* A file that the peer can shorten would end this process when it reads behind the end. */
static const char *
region_fault(uint64_t bytes, int file)
{
	struct stat status;
	int seals;

	if (file < 0)
		return "a region comes without its file";
	if (bytes == 0 || bytes > MOST_REGION)
		return "a region has between 1 byte and 4 GB";
	seals = fcntl(file, F_GET_SEALS);
	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
		return "the file of a region can be shortened: it needs the seal F_SEAL_SHRINK";
	if (fstat(file, &status) != 0 || (uint64_t)status.st_size < bytes)
		return "a region is longer than its file";
	return NULL;
}

const char *
memif_link_add_region(struct memif_link *link, uint32_t index, uint64_t bytes, int file)
{
	const char *why = region_fault(bytes, file);

	if (why == NULL && (index != link->region_count || index >= MEMIF_REGIONS))
		why = "regions come in their order, at most 16";
	if (why == NULL)
		why = map(link, bytes, file);
	close_file(&file);
	return why;
}

/* Whether it counts events: a write to another file might not return. */
static int
is_event(int file)
{
	char path[32], target[32] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return readlink(path, target, sizeof(target) - 1) > 0 && strcmp(target, "anon_inode:[eventfd]") == 0;
}

const char *
memif_link_add_ring(struct memif_link *link, uint32_t to_server, uint32_t index, uint32_t region, uint32_t offset, uint32_t slots_log2, int event)
{
	struct memif_queue *queue = to_server ? &link->receive : &link->send;
	const char *why = NULL;

	if (event < 0 || !is_event(event))
		why = "a ring comes without its eventfd";
	else if (index != 0 || queue->ring != NULL)
		why = "there is one ring for each direction";
	else if (region >= link->region_count)
		why = "a ring is in a region that is not there";
	else if (slots_log2 > MEMIF_MOST_SLOTS_LOG2)
		why = "a ring has at most 16384 slots";
	else if (offset % 64 != 0 || offset + ring_bytes(slots_log2) > link->regions[region].bytes)
		why = "a ring is not within its region";
	if (why != NULL) {
		close_file(&event);
		return why;
	}
	*queue = (struct memif_queue){ .ring = (void *)(link->regions[region].memory + offset), .size = 1u << slots_log2, .event = event };
	return NULL;
}

const char *
memif_link_begin(struct memif_link *link)
{
	if (link->receive.ring == NULL || link->send.ring == NULL)
		return "a ring is missing";
	if (atomic_load(&link->receive.ring->cookie) != MEMIF_COOKIE || atomic_load(&link->send.ring->cookie) != MEMIF_COOKIE)
		return "a ring has not the protocol's cookie";
	atomic_store(&link->receive.ring->tail, 0);
	atomic_store(&link->send.ring->tail, 0);
	atomic_store(&link->receive.ring->flags, MEMIF_QUIET);
	return NULL;
}
