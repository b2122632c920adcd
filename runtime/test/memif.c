/* Memif ports: two of them with each other, and peers that break every rule of the protocol. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "port/memif.h"
#include "test.h"

#define BURST 32u
#define BUFFERS 256u
#define LONGEST 9238u
#define ROUNDS 400u		/* random handshakes, and states of the rings */

struct end {
	struct memif *memif;
	struct own_pool *own;
	char device[128];
};

static void
pause_ms(long ms)
{
	const struct timespec pause = { .tv_nsec = ms * 1000000 };

	(void)nanosleep(&pause, NULL);
}

/* A socket that no other run has. */
static const char *
socket_name(void)
{
	static char name[32];

	snprintf(name, sizeof(name), "@bacus-test-memif-%d", (int)getpid());
	return name;
}

static struct end
open_end(const char *arguments, uint32_t slots)
{
	struct end end = { .own = own_create(BUFFERS, 16384, 256) };
	char error[PORT_ERROR_BYTES] = "";

	snprintf(end.device, sizeof(end.device), "%s,%s", socket_name(), arguments);
	end.memif = memif_open(1, end.device, slots, error);
	if (end.memif == NULL)
		fprintf(stderr, "%s\n", error);
	else
		end.memif->longest = LONGEST;
	return end;
}

static void
close_end(struct end *end)
{
	memif_close(end->memif);
	CHECK(end->own->free_count == end->own->count);
	own_destroy(end->own);
}

static int
becomes(const struct end *end, enum link_state state)
{
	for (uint32_t i = 0; i < 5000 && memif_link_state(end->memif) != state; i++)
		pause_ms(1);
	return memif_link_state(end->memif) == state;
}

static struct port_counts
counts_of(const struct end *end)
{
	struct port_counts counts;

	memif_counts(end->memif, &counts);
	return counts;
}

static uint32_t
take(struct end *end, void **packets, uint16_t *lengths)
{
	return memif_receive(end->memif, &end->own->pool, packets, lengths, BURST);
}

/* A client has given its buffers away when it has polled. */
static void
poll_once(struct end *end)
{
	void *packets[BURST];
	uint16_t lengths[BURST];

	CHECK(take(end, packets, lengths) == 0);
}

/* What one end sends the other receives, in order: packets of all lengths, of one descriptor and of many. */
static void
carry(struct end *from, struct end *to, uint64_t *state)
{
	static uint8_t bytes[BURST][LONGEST];
	void *packets[BURST], *came[BURST];
	uint16_t lengths[BURST], came_lengths[BURST];
	const uint32_t count = 1 + (uint32_t)(test_random(state) % 4);
	uint64_t refused = 0;
	uint32_t got;

	for (uint32_t i = 0; i < count; i++) {
		lengths[i] = (uint16_t)(1 + test_random(state) % (test_random(state) % 4 == 0 ? LONGEST : 1500));
		memset(bytes[i], (int)test_random(state), lengths[i]);
		bytes[i][lengths[i] - 1] = (uint8_t)i;
		packets[i] = bytes[i];
	}
	poll_once(to);
	CHECK(memif_send(from->memif, packets, lengths, (uint16_t)count, &refused) == count && refused == 0);
	CHECK(counts_of(to).waiting == count);
	got = take(to, came, came_lengths);
	CHECK(got == count);
	for (uint32_t i = 0; i < got; i++)
		CHECK(came_lengths[i] == lengths[i] && memcmp(came[i], bytes[i], lengths[i]) == 0);
	own_free(to->own, came, got);
	poll_once(to);
}

/* A file of events that is asked for reports a packet, once. */
static void
wake(struct end *from, struct end *to)
{
	uint8_t byte[64] = { 1 };
	void *packet = byte, *came[BURST];
	uint16_t length = sizeof(byte), lengths[BURST];
	uint64_t refused = 0;
	struct pollfd file = { .events = POLLIN };

	poll_once(to);
	file.fd = memif_arm(to->memif);
	CHECK(file.fd >= 0 && poll(&file, 1, 0) == 0);
	CHECK(memif_send(from->memif, &packet, &length, 1, &refused) == 1);
	CHECK(poll(&file, 1, 1000) == 1);
	CHECK(memif_arm(to->memif) == -1);
	memif_disarm(to->memif);
	CHECK(poll(&file, 1, 0) == 0);
	CHECK(take(to, came, lengths) == 1);
	own_free(to->own, came, 1);
}

/* What does not fit the ring is not taken; what fits no ring is refused. */
static void
fill(struct end *from, struct end *to)
{
	static uint8_t bytes[LONGEST];
	void *packets[BURST], *came[BURST];
	uint16_t lengths[BURST];
	uint64_t refused = 0;
	uint32_t sent, got = 0, last;

	for (uint32_t i = 0; i < BURST; i++) {
		packets[i] = bytes;
		lengths[i] = LONGEST;
	}
	poll_once(to);
	sent = memif_send(from->memif, packets, lengths, BURST, &refused);
	CHECK(sent > 0 && sent < BURST && refused == 0);
	do {
		last = take(to, came, lengths);
		own_free(to->own, came, last);
		got += last;
	} while (last != 0);
	CHECK(got == sent);
}

static void
test_pair(uint64_t *state)
{
	struct end server = open_end("role=server,id=7,secret=s", 64), client = open_end("role=client,id=7,secret=s", 64);

	CHECK(becomes(&server, LINK_UP) && becomes(&client, LINK_UP));
	for (uint32_t i = 0; i < 2000; i++) {
		carry(&server, &client, state);
		carry(&client, &server, state);
	}
	wake(&server, &client);
	wake(&client, &server);
	fill(&server, &client);
	fill(&client, &server);
	CHECK(counts_of(&server).errors == 0 && counts_of(&client).errors == 0);
	CHECK(counts_of(&server).sent == counts_of(&client).received && counts_of(&client).sent == counts_of(&server).received);
	close_end(&client);
	close_end(&server);
}

/* A client that goes, behind packets that are still taken, and comes back. */
static void
test_return(uint64_t *state)
{
	struct end server = open_end("role=server", 64);
	uint8_t byte[64] = { 1 };
	void *packet = byte, *came[BURST];
	uint16_t length = sizeof(byte), lengths[BURST];
	uint64_t refused = 0;

	CHECK(memif_send(server.memif, &packet, &length, 1, &refused) == 1 && refused == 1);
	for (uint32_t i = 0; i < 3; i++) {
		struct end client = open_end("role=client", 64);
		uint32_t got = 0;

		CHECK(becomes(&client, LINK_UP) && becomes(&server, LINK_UP));
		carry(&client, &server, state);
		carry(&server, &client, state);
		CHECK(memif_send(client.memif, &packet, &length, 1, &refused) == 1);
		close_end(&client);
		for (uint32_t j = 0; j < 2000 && got == 0; j++)
			got = take(&server, came, lengths);
		own_free(server.own, came, got);
		CHECK(got == 1 && counts_of(&server).missed == 0);
		CHECK(becomes(&server, LINK_DOWN));
	}
	close_end(&server);
}

static int
connect_raw(const struct memif *memif)
{
	const int raw = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	CHECK(connect(raw, (const void *)&memif->address, memif->address_bytes) == 0);
	return raw;
}

/* The kind of the next message, and the message; 0: there is none. */
static uint32_t
hear(int raw, struct memif_message *message)
{
	struct pollfd file = { .fd = raw, .events = POLLIN };

	if (poll(&file, 1, 2000) != 1 || memif_message_receive(raw, message) != 1)
		return 0;
	return memif_kind_of(message);
}

static int
some_file(uint64_t *state, uint64_t bytes)
{
	int file;

	switch (test_random(state) % 5) {
	case 0:
		return -1;
	case 1:
		return eventfd(0, EFD_CLOEXEC);
	case 2:
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	default:
		file = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		CHECK(file >= 0 && ftruncate(file, (off_t)bytes) == 0);
		if (test_random(state) % 4 != 0)
			CHECK(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
		return file;
	}
}

/* A message that may be right, in each of its fields. */
static struct memif_message
some_message(uint64_t *state, uint32_t kind)
{
	struct memif_message message = memif_message_of(kind);
	const uint64_t bytes = test_random(state) % 4 == 0 ? test_random(state) : 65536;

	if (test_random(state) % 8 == 0)
		for (uint32_t i = 2; i < sizeof(message.bytes); i++)
			message.bytes[i] = (uint8_t)test_random(state);
	if (kind == MEMIF_INIT) {
		memif_set(&message, 2, 2, MEMIF_VERSION);
	} else if (kind == MEMIF_ADD_REGION) {
		memif_set(&message, 2, 2, test_random(state) % 2);
		memif_set(&message, 4, 8, bytes);
	} else if (kind == MEMIF_ADD_RING) {
		memif_set(&message, 2, 2, test_random(state) % 2);
		memif_set(&message, 6, 2, test_random(state) % 2);
		memif_set(&message, 8, 4, test_random(state) % 4 == 0 ? test_random(state) : 64 * (test_random(state) % 1024));
		memif_set(&message, 12, 1, test_random(state) % 17);
	}
	message.file = some_file(state, 65536);
	return message;
}

/* Messages in any order and form. The port then takes a client that keeps to the rules. */
static void
test_rubbish_messages(uint64_t *state)
{
	struct end server = open_end("role=server", 64), client;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		const int raw = connect_raw(server.memif);
		const uint32_t count = (uint32_t)(test_random(state) % 8);

		for (uint32_t i = 0; i < count; i++) {
			const uint32_t usual = MEMIF_INIT + i < MEMIF_ADD_RING ? MEMIF_INIT + i : MEMIF_ADD_RING + i / 5;
			struct memif_message message = some_message(state, test_random(state) % 4 == 0 ? (uint32_t)(test_random(state) % 10) : usual);

			(void)memif_message_send(raw, &message);
			if (message.file >= 0)
				(void)close(message.file);
			if (test_random(state) % 16 == 0)
				(void)!send(raw, message.bytes, test_random(state) % 128, MSG_NOSIGNAL);
		}
		(void)close(raw);
	}
	client = open_end("role=client", 64);
	CHECK(becomes(&client, LINK_UP) && becomes(&server, LINK_UP));
	carry(&client, &server, state);
	close_end(&client);
	close_end(&server);
}

/* What a client's message has instead of what is right: a field, or the file. */
struct mistake {
	uint32_t step;		/* of the messages below; beyond: there is none */
	uint32_t at;
	uint32_t bytes;		/* 0: the file is another one */
	uint64_t value;
	int file;
};

#define NO_MISTAKE ((struct mistake){ .step = 9 })

/* Connects by the rules but for a mistake. The server's last answer, and to which message it is. */
static uint32_t
connect_with(int raw, const struct memif_link *link, struct mistake mistake, uint32_t *step)
{
	static const enum memif_kind kinds[] = { MEMIF_INIT, MEMIF_ADD_REGION, MEMIF_ADD_RING, MEMIF_ADD_RING, MEMIF_CONNECT };
	struct memif_message in, out;
	uint32_t answer = hear(raw, &in);

	CHECK(answer == MEMIF_HELLO);
	for (*step = 0; *step < 5; ++*step) {
		const struct memif_queue *queue = *step == 2 ? &link->send : &link->receive;

		out = memif_message_of(kinds[*step]);
		if (*step == 0)
			memif_set(&out, 2, 2, MEMIF_VERSION);
		if (*step == 1) {
			memif_set(&out, 4, 8, link->regions[0].bytes);
			out.file = link->regions[0].file;
		}
		if (*step == 2 || *step == 3) {
			memif_set(&out, 2, 2, *step == 2);
			memif_set(&out, 8, 4, (uint64_t)((const uint8_t *)queue->ring - link->regions[0].memory));
			memif_set(&out, 12, 1, (uint64_t)__builtin_ctz(queue->size));
			out.file = queue->event;
		}
		if (*step == mistake.step && mistake.bytes == 0)
			out.file = mistake.file;
		else if (*step == mistake.step)
			memif_set(&out, mistake.at, mistake.bytes, mistake.value);
		CHECK(memif_message_send(raw, &out) == 0);
		answer = hear(raw, &in);
		if (answer != MEMIF_ACK)
			return answer;
	}
	return answer;
}

/* A connection that a port has taken; the one before it may still be ending. */
static int
connect_rightly(const struct memif *memif, const struct memif_link *link)
{
	for (uint32_t i = 0; i < 100; i++) {
		const int raw = connect_raw(memif);
		struct pollfd file = { .fd = raw, .events = POLLIN };
		uint32_t step;

		if (poll(&file, 1, 2000) == 1 && connect_with(raw, link, NO_MISTAKE, &step) == MEMIF_CONNECTED)
			return raw;
		(void)close(raw);
		pause_ms(5);
	}
	CHECK(!"the port takes no client");
	return -1;
}

/* Each mistake is noticed where it is made. A region whose file may be shortened is one: a read behind its end would end the process. */
static void
test_mistakes(void)
{
	struct end server = open_end("role=server", 64);
	const char *why;
	struct memif_link *link = memif_link_create(6, 2048, &why);
	const uint64_t bytes = link->regions[0].bytes;
	const int unsealed = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING), other = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct mistake mistakes[] = {
		{ 0, 2, 2, 0x100, 0 }, { 0, 4, 4, 4, 0 }, { 0, 8, 1, 1, 0 }, { 0, 0, 2, MEMIF_CONNECT, 0 },
		{ 1, 2, 2, 1, 0 }, { 1, 4, 8, 0, 0 }, { 1, 4, 8, bytes + 4096, 0 }, { 1, 4, 8, UINT64_MAX, 0 }, { 1, 0, 0, 0, -1 }, { 1, 0, 0, 0, other },
		{ 1, 0, 0, 0, unsealed }, { 1, 0, 0, 0, link->send.event }, { 1, 0, 2, MEMIF_CONNECT, 0 }, { 1, 0, 2, MEMIF_INIT, 0 }, { 1, 0, 2, MEMIF_HELLO, 0 },
		{ 2, 4, 2, 1, 0 }, { 2, 6, 2, 1, 0 }, { 2, 8, 4, 4, 0 }, { 2, 8, 4, bytes - 64, 0 }, { 2, 8, 4, UINT32_MAX - 63, 0 }, { 2, 12, 1, 15, 0 },
		{ 2, 12, 1, 255, 0 }, { 2, 0, 0, 0, -1 }, { 2, 0, 0, 0, other }, { 3, 2, 2, 1, 0 }, { 4, 0, 2, 99, 0 },
	};

	CHECK(ftruncate(unsealed, (off_t)bytes) == 0);
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const int raw = connect_raw(server.memif);
		uint32_t step, answer;

		answer = connect_with(raw, link, mistakes[i], &step);
		if (answer != MEMIF_DISCONNECT || step != mistakes[i].step)
			fprintf(stderr, "mistake %zu: answer %u to message %u\n", i, answer, step);
		CHECK(answer == MEMIF_DISCONNECT && step == mistakes[i].step);
		(void)close(raw);
		pause_ms(2);
	}
	(void)close(connect_rightly(server.memif, link));
	/* The seal holds. */
	CHECK(ftruncate(link->regions[0].file, 4096) != 0);
	(void)close(unsealed);
	(void)close(other);
	memif_link_close(link);
	close_end(&server);
}

/* Indices that cannot be end the connection, and a buffer that is too long is an error of its packet alone. */
static void
test_indices(void)
{
	struct end server = open_end("role=server", 64), client;
	const char *why;
	static uint8_t bytes[64];
	void *packet = bytes;
	const uint16_t length = sizeof(bytes);
	uint64_t refused = 0;

	for (uint32_t sends = 0; sends < 2; sends++) {
		struct memif_link *link = memif_link_create(6, 2048, &why);
		const int raw = connect_rightly(server.memif, link);

		CHECK(becomes(&server, LINK_UP));
		atomic_store(sends ? &link->receive.ring->head : &link->send.ring->head, 65);
		if (sends)
			(void)memif_send(server.memif, &packet, &length, 1, &refused);
		else
			poll_once(&server);
		CHECK(becomes(&server, LINK_DOWN));
		(void)close(raw);
		memif_link_close(link);
	}
	client = open_end("role=client", 64);
	CHECK(becomes(&client, LINK_UP) && becomes(&server, LINK_UP));
	poll_once(&client);
	port_lock(&server.memif->sending);
	server.memif->link->send.ring->descriptors[0] = (struct memif_descriptor){ .length = 2049 };
	atomic_store(&server.memif->link->send.ring->tail, 1);
	port_unlock(&server.memif->sending);
	poll_once(&client);
	CHECK(counts_of(&client).errors == 1 && memif_link_state(client.memif) == LINK_UP);
	close_end(&client);
	close_end(&server);
}

/* Anything in the rings, while packets are taken and sent. */
static void
scribble(struct end *end, struct memif_link *link, uint64_t *state)
{
	static uint8_t bytes[BURST][LONGEST];
	void *packets[BURST], *came[BURST];
	uint16_t lengths[BURST], came_lengths[BURST];
	struct memif_queue *const queues[] = { &link->receive, &link->send };
	uint64_t refused = 0;
	uint32_t got;

	for (uint32_t i = 0; i < 64; i++) {
		struct memif_queue *queue = queues[test_random(state) % 2];
		struct memif_descriptor *of = &queue->ring->descriptors[test_random(state) % queue->size];

		of->flags = (uint16_t)(test_random(state) % 4);
		of->length = (uint32_t)(test_random(state) % 4 == 0 ? test_random(state) : test_random(state) % 4096);
		of->region = (uint16_t)(test_random(state) % 8 == 0 ? test_random(state) : 0);
		of->offset = (uint32_t)(test_random(state) % 4 == 0 ? test_random(state) : test_random(state) % link->regions[0].bytes);
		if (test_random(state) % 8 == 0)
			atomic_fetch_add(test_random(state) % 2 ? &queue->ring->head : &queue->ring->tail,
				(uint16_t)(test_random(state) % 16 == 0 ? test_random(state) : test_random(state) % 8));
	}
	for (uint32_t i = 0; i < BURST; i++) {
		packets[i] = bytes[i];
		lengths[i] = (uint16_t)(1 + test_random(state) % LONGEST);
	}
	got = take(end, came, came_lengths);
	for (uint32_t i = 0; i < got; i++)
		CHECK(came_lengths[i] != 0 && came_lengths[i] <= LONGEST);
	own_free(end->own, came, got);
	CHECK(memif_send(end->memif, packets, lengths, BURST, &refused) <= BURST && refused <= BURST);
	CHECK(counts_of(end).waiting <= link->receive.size);
}

static void
test_rubbish_client(uint64_t *state)
{
	struct end server = open_end("role=server", 64), client;

	for (uint32_t round = 0; round < ROUNDS / 10; round++) {
		const char *why;
		struct memif_link *link = memif_link_create(6, 2048, &why);
		const int raw = connect_rightly(server.memif, link);

		CHECK(becomes(&server, LINK_UP));
		for (uint32_t i = 0; i < 50; i++)
			scribble(&server, link, state);
		(void)close(raw);
		memif_link_close(link);
		CHECK(becomes(&server, LINK_DOWN));
	}
	client = open_end("role=client", 64);
	CHECK(becomes(&client, LINK_UP) && becomes(&server, LINK_UP));
	carry(&client, &server, state);
	close_end(&client);
	close_end(&server);
}

/* The other way round: what the client's own link is, a server may write to. */
static void
test_rubbish_server(uint64_t *state)
{
	struct end server = open_end("role=server", 64), client = open_end("role=client", 64);

	for (uint32_t round = 0; round < ROUNDS / 10; round++) {
		CHECK(becomes(&client, LINK_UP) && becomes(&server, LINK_UP));
		for (uint32_t i = 0; i < 50; i++) {
			struct memif_link *link;

			/* The server's thread waits with its end. */
			port_lock(&server.memif->receiving);
			link = server.memif->link;
			if (link != NULL && memif_link_state(client.memif) == LINK_UP)
				scribble(&client, link, state);
			port_unlock(&server.memif->receiving);
			if (link == NULL)
				break;
		}
		pause_ms(20);
	}
	close_end(&client);
	close_end(&server);
}

static void
test_arguments(void)
{
	static const char *const wrong[] = {
		"", "x", "@x,role=both", "@x,id=-1", "@x,id=x", "@x,bsize=100", "@x,secret=", "@x,secret=123456789012345678901234", "@x,socket=/tmp/x",
	};
	char error[PORT_ERROR_BYTES];

	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		*error = 0;
		CHECK(memif_open(1, wrong[i], 0, error) == NULL && *error != 0);
	}
}

void
test_memif(void)
{
	uint64_t state = 1;

	test_arguments();
	test_pair(&state);
	test_return(&state);
	test_mistakes();
	test_indices();
	test_rubbish_messages(&state);
	test_rubbish_client(&state);
	test_rubbish_server(&state);
}
