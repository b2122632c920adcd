/* Memif's messages: 128 bytes each, with a file beside some. */
#define _GNU_SOURCE
#include "port/memif.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_FILES 4u		/* that are looked at in a message; the kernel closes those beyond */

uint64_t
memif_field(const struct memif_message *message, uint32_t at, uint32_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, message->bytes + at, bytes);
	return value;
}

void
memif_set(struct memif_message *message, uint32_t at, uint32_t bytes, uint64_t value)
{
	memcpy(message->bytes + at, &value, bytes);
}

/* The last byte of a text is 0. */
void
memif_set_text(struct memif_message *message, uint32_t at, uint32_t bytes, const char *text)
{
	const size_t length = strnlen(text, bytes - 1);

	memcpy(message->bytes + at, text, length);
	memset(message->bytes + at + length, 0, bytes - length);
}

struct memif_message
memif_message_of(enum memif_kind kind)
{
	struct memif_message message = { .file = -1 };

	memif_set(&message, 0, 2, kind);
	return message;
}

int
memif_message_send(int socket, const struct memif_message *message)
{
	union {
		struct cmsghdr header;
		uint8_t bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { (void *)(uintptr_t)message->bytes, sizeof(message->bytes) };
	struct msghdr all = { .msg_iov = &part, .msg_iovlen = 1 };

	if (message->file >= 0) {
		all.msg_control = control.bytes;
		all.msg_controllen = sizeof(control.bytes);
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &message->file, sizeof(int));
	}
	return sendmsg(socket, &all, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof(message->bytes) ? 0 : -1;
}

/* The first file; others are closed. */
static int
files_of(struct msghdr *all)
{
	int first = -1;

	for (struct cmsghdr *header = CMSG_FIRSTHDR(all); header != NULL; header = CMSG_NXTHDR(all, header)) {
		const size_t bytes = header->cmsg_len - CMSG_LEN(0);

		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
			int file;

			memcpy(&file, CMSG_DATA(header) + at, sizeof(file));
			if (first < 0)
				first = file;
			else
				(void)close(file);
		}
	}
	return first;
}

int
memif_message_receive(int socket, struct memif_message *message)
{
	union {
		struct cmsghdr header;
		uint8_t bytes[CMSG_SPACE(MOST_FILES * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec part = { message->bytes, sizeof(message->bytes) };
	struct msghdr all = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes) };
	const ssize_t bytes = recvmsg(socket, &all, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	message->file = -1;
	if (bytes < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	message->file = files_of(&all);
	if (bytes == (ssize_t)sizeof(message->bytes) && (all.msg_flags & MSG_TRUNC) == 0)
		return 1;
	if (message->file >= 0)
		(void)close(message->file);
	message->file = -1;
	return -1;
}

void
memif_send_disconnect(int socket, const char *why)
{
	struct memif_message message = memif_message_of(MEMIF_DISCONNECT);

	memif_set_text(&message, 6, 96, why);
	(void)memif_message_send(socket, &message);
}
