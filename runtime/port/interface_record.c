/* A port layer: packets of interfaces, written to two captures each, NAME_in.pcap and NAME_out.pcap, as the program receives and sends them. What is left of a
 * burst in the stream's buffer is written at its end, so that others can read the captures while the switch runs. */
#define _GNU_SOURCE
#include "port/interface.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RECORD_MAGIC 0xa1b2c3d4u	/* microseconds, in this machine's order of bytes */
#define RECORD_LONGEST 262144u
#define RECORD_ETHERNET 1u

struct capture_header {
	uint32_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t zone;
	uint32_t accuracy;
	uint32_t longest;
	uint32_t link;
};

struct capture_packet {
	uint32_t seconds;
	uint32_t microseconds;
	uint32_t captured;
	uint32_t length;
};

static const char *const directions[RECORDS] = { [RECORD_IN] = "in", [RECORD_OUT] = "out" };
static char *record_folder;

void
interface_record(const char *folder)
{
	free(record_folder);
	record_folder = folder == NULL ? NULL : strdup(folder);
}

uint32_t
interface_is_recorded(void)
{
	return record_folder != NULL;
}

static FILE *
record_file(const char *name, enum record direction, char *error)
{
	const struct capture_header header = {
		.magic = RECORD_MAGIC, .major = 2, .minor = 4, .longest = RECORD_LONGEST, .link = RECORD_ETHERNET,
	};
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s_%s.pcap", record_folder, name, directions[direction]);
	file = fopen(path, "we");
	if (file != NULL && fwrite(&header, sizeof(header), 1, file) == 1 && fflush(file) == 0)
		return file;
	(void)port_fail(error, "%s: %s", path, strerror(errno));
	if (file != NULL)
		(void)fclose(file);
	return NULL;
}

int
record_open(struct interface *interface, char *error)
{
	for (uint32_t i = 0; record_folder != NULL && i < RECORDS; i++) {
		interface->records[i] = record_file(interface->name, i, error);
		if (interface->records[i] == NULL)
			return -1;
	}
	return 0;
}

void
record_close(struct interface *interface)
{
	for (uint32_t i = 0; i < RECORDS; i++) {
		if (interface->records[i] != NULL)
			(void)fclose(interface->records[i]);
		interface->records[i] = NULL;
	}
}

void
record_packet(struct interface *interface, enum record direction, const struct iovec *parts, uint32_t count)
{
	FILE *file = interface->records[direction];
	struct capture_packet packet = { 0 };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	for (uint32_t i = 0; i < count; i++)
		packet.length += (uint32_t)parts[i].iov_len;
	packet.seconds = (uint32_t)now.tv_sec;
	packet.microseconds = (uint32_t)(now.tv_nsec / 1000);
	packet.captured = packet.length;
	/* The stream remembers a failure until its end. */
	(void)fwrite(&packet, sizeof(packet), 1, file);
	for (uint32_t i = 0; i < count; i++)
		(void)fwrite(parts[i].iov_base, parts[i].iov_len, 1, file);
}

void
record_burst_end(struct interface *interface, enum record direction)
{
	FILE *file = interface->records[direction];

	if (fflush(file) == 0 && !ferror(file))
		return;
	/* Packets matter more: the switch goes on without. */
	fprintf(stderr, "warning: %s_%s.pcap is not written any further: %s\n", interface->name, directions[direction], strerror(errno));
	(void)fclose(file);
	interface->records[direction] = NULL;
}
