/* Longest prefixes: IPv4 beside rte_lpm and rte_fib, IPv6 beside rte_lpm6 and rte_fib6. */
#include <ctype.h>
#include <errno.h>
#include <unistd.h>

#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_lpm.h>
#include <rte_lpm6.h>

#include "kernels.h"
#include "table/btree_node.h"
#include "table/dir24_8.h"
#include "table/lpm_trie.h"

#define PREFIXES_MOST 2000000u	/* routes of a file */
#define NEXT_HOPS 200u
#define FEW 16u			/* of the longest prefixes, whose lines are in the first cache */
#define FEW_ADDRESSES 256u
#define BTREE_LEVELS 2u		/* the lowest ones: the others' nodes are so few that reading them is part of the issue */
#define DRAWN_IPV4 600000u
#define DRAWN_IPV6 200000u

/* Left-aligned in 64 bits for IPv6, in 32 for IPv4. */
struct prefix {
	uint64_t value;
	uint32_t length;
	uint32_t next_hop;
};

struct prefixes {
	struct prefix *list;
	uint32_t count;
	uint32_t bits;		/* of an address */
};

/* Addresses in the order in which they come, again and again, as packets of a trace do: drawn beforehand, for the list of prefixes is read at random, and would
 * take the cache that tables have. */
struct prefix_trace {
	uint64_t *addresses;
	uint64_t count;
	uint64_t next;
};

struct prefix_draw {
	const struct prefixes *prefixes;
	const struct writer *writer;
	struct prefix_trace *trace;
	const void *table;	/* of ours, whose lines are the floor's; or nodes of the tree, by address of the trace */
	const void **nodes;
};

static int
prefix_order(const void *a, const void *b)
{
	const struct prefix *left = a, *right = b;

	if (left->length != right->length)
		return left->length < right->length ? -1 : 1;
	return (left->value > right->value) - (left->value < right->value);
}

static uint64_t
prefix_mask(uint32_t bits, uint32_t length)
{
	const uint64_t all = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;

	return length == 0 ? 0 : all & ~(length >= bits ? 0 : all >> length);
}

static void
prefixes_settle(struct prefixes *prefixes)
{
	uint32_t kept = 0;

	qsort(prefixes->list, prefixes->count, sizeof(*prefixes->list), prefix_order);
	for (uint32_t i = 0; i < prefixes->count; i++)
		if (kept == 0 || prefix_order(&prefixes->list[kept - 1], &prefixes->list[i]) != 0)
			prefixes->list[kept++] = prefixes->list[i];
	prefixes->count = kept;
}

static struct prefixes
prefixes_make(uint32_t bits, uint32_t room)
{
	return (struct prefixes){ .list = calloc(room, sizeof(struct prefix)), .bits = bits };
}

static void
prefixes_add(struct prefixes *prefixes, uint64_t value, uint32_t length)
{
	prefixes->list[prefixes->count++] = (struct prefix){
		.value = value & prefix_mask(prefixes->bits, length), .length = length, .next_hop = (uint32_t)(random_next() % NEXT_HOPS) + 1,
	};
}

/* Lengths as routers hold them, clustered as networks are. */
static struct prefixes
prefixes_draw_ipv4(uint32_t count)
{
	static const uint8_t lengths[16] = { 24, 24, 24, 24, 24, 24, 24, 24, 24, 22, 22, 23, 21, 20, 19, 16 };
	struct prefixes prefixes = prefixes_make(32, count + 1);
	static uint32_t networks[40000];

	for (uint32_t i = 0; i < 40000; i++)
		networks[i] = (uint32_t)(random_next() % (223 * 256) + 256) << 16;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t at = random_next() % 40000 * (random_next() % 40000) / 40000;
		const uint32_t value = networks[at] | (uint32_t)(random_next() & 0xffff), is_long = random_next() % 500 == 0;

		prefixes_add(&prefixes, value, is_long ? 25 + (uint32_t)(random_next() % 8) : lengths[random_next() % 16]);
	}
	prefixes_settle(&prefixes);
	return prefixes;
}

/* Prefixes longer than sites have are few networks', one of forty. */
static struct prefixes
prefixes_draw_ipv6(uint32_t count)
{
	static const uint8_t lengths[16] = { 48, 48, 48, 48, 48, 48, 48, 32, 32, 44, 44, 40, 36, 29, 46, 47 };
	struct prefixes prefixes = prefixes_make(64, count + 1);
	static uint64_t networks[24000];

	for (uint32_t i = 0; i < 24000; i++)
		networks[i] = (0x2001 + random_next() % 45 * 0x40) << 48 | (random_next() & 0xffff) << 32;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t length = random_next() % 32 == 0 ? 64 : lengths[random_next() % 16];
		const uint64_t at = random_next() % 24000 * (random_next() % 24000) / 24000;
		const uint64_t network = networks[length > 48 ? at / 40 : at];

		prefixes_add(&prefixes, network ^ (random_next() & 0xfffffffff), length);
	}
	prefixes_settle(&prefixes);
	return prefixes;
}

/* The route that a line begins with, `A.B.C.D/LENGTH` and white space; 0 if it begins otherwise. */
static int
route_read(const char *line, uint32_t *value, uint32_t *length)
{
	unsigned part[4];
	int end = 0;

	if (sscanf(line, "%3u.%3u.%3u.%3u/%3u%n", &part[0], &part[1], &part[2], &part[3], length, &end) != 5 || *length > 32)
		return 0;
	if (part[0] > 255 || part[1] > 255 || part[2] > 255 || part[3] > 255 || (line[end] != '\0' && !isspace((unsigned char)line[end])))
		return 0;
	*value = part[0] << 24 | part[1] << 16 | part[2] << 8 | part[3];
	return 1;
}

/* Lines that begin with a route, as they are or compressed by gzip; others are left out with a note. */
static struct prefixes
prefixes_read_ipv4(const char *path)
{
	struct prefixes prefixes = prefixes_make(32, PREFIXES_MOST);
	uint32_t value, length, number = 0, others = 0, first_other = 0;
	char *line = NULL;
	size_t room = 0;
	FILE *file;

	if (access(path, R_OK) != 0) {
		fprintf(stderr, "lookup: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	/* The shell takes the name from the environment, whatever it holds. */
	setenv("ROUTES", path, 1);
	file = popen("exec gzip -cdf <\"$ROUTES\"", "r");
	while (file != NULL && getline(&line, &room, file) >= 0) {
		number++;
		if (!route_read(line, &value, &length)) {
			first_other = others++ == 0 ? number : first_other;
		} else if (prefixes.count == PREFIXES_MOST) {
			fprintf(stderr, "lookup: %s:%u: there is room for %u routes: give a file with fewer\n", path, number, PREFIXES_MOST);
			exit(1);
		} else {
			prefixes_add(&prefixes, value, length);
		}
	}
	free(line);
	if (file == NULL || pclose(file) != 0) {
		fprintf(stderr, "lookup: %s: gzip fails after %u lines: is it installed, and the file whole?\n", path, number);
		exit(1);
	}
	if (prefixes.count == 0) {
		fprintf(stderr, "lookup: %s: no routes: expected lines that begin as `192.0.2.0/24`\n", path);
		exit(1);
	}
	if (others != 0)
		fprintf(stderr, "lookup: %s:%u: no route, and left out, as are %u lines\n", path, first_other, others);
	prefixes_settle(&prefixes);
	return prefixes;
}

/* Addresses below prefixes that are drawn uniformly. */
static struct prefix_trace
prefix_trace_draw(const struct prefixes *prefixes)
{
	const uint64_t least = 4 * (uint64_t)prefixes->count;
	struct prefix_trace trace = { .count = (least / SAMPLE + 1) * SAMPLE };

	trace.addresses = memory_take(trace.count * sizeof(uint64_t));
	for (uint64_t i = 0; i < trace.count; i++) {
		const struct prefix *prefix = &prefixes->list[random_next() % prefixes->count];
		const uint64_t low = prefix_mask(prefixes->bits, prefixes->bits) & ~prefix_mask(prefixes->bits, prefix->length);

		trace.addresses[i] = prefix->value | (random_next() & low);
	}
	return trace;
}

static void
prefix_trace_give(struct prefix_trace *trace)
{
	memory_give(trace->addresses, trace->count * sizeof(uint64_t));
}

/* The next addresses of the trace, which has a whole number of samples. */
static void
prefix_draw(struct sample *sample, const void *context)
{
	const struct prefix_draw *draw = context;
	struct prefix_trace *trace = draw->trace;
	const uint64_t *addresses = trace->addresses + trace->next;

	trace->next = (trace->next + SAMPLE) % trace->count;
	for (uint32_t i = 0; i < SAMPLE; i++) {
		const uint64_t address = addresses[i];

		if (draw->prefixes->bits == 32) {
			sample->keys[i] = address;
			((uint32_t *)sample->padded)[i] = (uint32_t)address;
		} else {
			const uint64_t swapped[2] = { __builtin_bswap64(address), 0 };

			sample->keys[2 * (size_t)i] = 0;
			sample->keys[2 * (size_t)i + 1] = address;
			memcpy(sample->padded + 2 * (size_t)i, swapped, sizeof(swapped));
		}
	}
}

/* They should find what our table gives, which tests compare with a list. */
static void
prefix_expect(struct sample *sample, const void *context)
{
	const struct prefix_draw *draw = context;

	writer_expect(draw->writer, sample, draw->prefixes->bits == 32 ? 1 : 2);
}

static void
dir24_8_u8_1_lines(struct sample *sample, const void *context)
{
	const struct dir24_8 *table = ((const struct prefix_draw *)context)->table;

	sample->steps = 1;
	for (uint32_t i = 0; i < SAMPLE; i++)
		sample->lines[0][i] = dir24_8_u8_address(table, sample->keys[i]);
}

static void
dir24_8_u16_1_lines(struct sample *sample, const void *context)
{
	const struct dir24_8 *table = ((const struct prefix_draw *)context)->table;

	sample->steps = 1;
	for (uint32_t i = 0; i < SAMPLE; i++)
		sample->lines[0][i] = dir24_8_u16_address(table, sample->keys[i]);
}

/* The share of the trace's addresses that are looked up beyond the first array, where prefixes are longer. */
static double
dir24_8_longer_share(const struct dir24_8 *u8, const struct prefix_trace *trace)
{
	uint64_t longer = 0;

	for (uint64_t i = 0; i < trace->count; i++)
		longer += dir24_8_u8_first(dir24_8_u8_address(u8, trace->addresses[i])) == DIR24_8_U8_GROUP;
	return (double)longer / (double)trace->count;
}

/* Which nodes of the two lowest levels the addresses of a trace lead to. */
static const void **
btree_nodes(const struct btree *table, const struct prefix_trace *trace)
{
	const void **nodes = memory_take(trace->count * BTREE_LEVELS * sizeof(*nodes));
	const struct btree_top *top = btree_address(table, 0);

	for (uint64_t i = 0; i < trace->count; i++) {
		const uint64_t flipped = trace->addresses[i] ^ BTREE_SIGN;
		const union btree_node *node = &top->root;

		for (uint64_t level = top->height; level != 0; level--) {
			node = level == 1 && top->windows == 2 ? btree_step_window(node, flipped) : btree_step(node, flipped);
			if (level <= BTREE_LEVELS)
				nodes[i * BTREE_LEVELS + BTREE_LEVELS - level] = node;
		}
	}
	return nodes;
}

static void
btree_2_lines(struct sample *sample, const void *context)
{
	const struct prefix_draw *draw = context;
	const uint64_t begin = (draw->trace->next + draw->trace->count - SAMPLE) % draw->trace->count;

	sample->steps = BTREE_LEVELS;
	for (uint64_t i = 0; i < SAMPLE; i++)
		for (uint32_t step = 0; step < BTREE_LEVELS; step++)
			sample->lines[step][i] = draw->nodes[(begin + i) * BTREE_LEVELS + step];
}

PLAIN_KERNEL(dir24_8_u8, 1)
BEGIN_TOGETHER(dir24_8_u8)
GROUP_KERNEL(dir24_8_u8, 1)
AHEAD_KERNELS(dir24_8_u8, 1)
PLAIN_KERNEL(dir24_8_u16, 1)
BEGIN_TOGETHER(dir24_8_u16)
GROUP_KERNEL(dir24_8_u16, 1)
AHEAD_KERNELS(dir24_8_u16, 1)
PLAIN_KERNEL(btree, 2)
GROUP_KERNEL(btree, 2)
PLAIN_KERNEL(lpm_trie, 2)
GROUP_KERNEL(lpm_trie, 2)

/* The same with each node requested as soon as it is known. */
static void
lpm_trie_2_requested(const void *of, struct sample *sample)
{
	for (uint32_t from = 0; from < SAMPLE; from += BURST) {
		struct table_group group = lpm_trie_2_of(sample, from);

		group.walks_ahead = 1;
		lpm_trie_find_group(of, &group);
	}
}

static void
lpm_run(const void *of, struct sample *sample)
{
	const uint32_t *addresses = (const uint32_t *)sample->padded;

	for (uint32_t i = 0; i < SAMPLE; i += 4)
		rte_lpm_lookupx4(of, _mm_loadu_si128((const void *)(addresses + i)), sample->found + i, 0);
}

static void
fib_run(const void *of, struct sample *sample)
{
	for (uint32_t from = 0; from < SAMPLE; from += BURST) {
		uint64_t hops[BURST];

		rte_fib_lookup_bulk((struct rte_fib *)(uintptr_t)of, (uint32_t *)sample->padded + from, hops, BURST);
		for (uint32_t i = 0; i < BURST; i++)
			sample->found[from + i] = (uint32_t)hops[i];
	}
}

static void
fib6_run(const void *of, struct sample *sample)
{
	for (uint32_t from = 0; from < SAMPLE; from += BURST) {
		uint64_t hops[BURST];

		rte_fib6_lookup_bulk((struct rte_fib6 *)(uintptr_t)of, (uint8_t (*)[16])(sample->padded + 2 * (size_t)from), hops, BURST);
		for (uint32_t i = 0; i < BURST; i++)
			sample->found[from + i] = (uint32_t)hops[i];
	}
}

static void
lpm6_run(const void *of, struct sample *sample)
{
	for (uint32_t from = 0; from < SAMPLE; from += BURST)
		rte_lpm6_lookup_bulk_func(of, (uint8_t (*)[16])(sample->padded + 2 * (size_t)from), (int32_t *)sample->found + from, BURST);
}

static struct writer *
prefix_make(uint32_t structure, const struct prefixes *prefixes)
{
	struct writer *writer = table_make(structure, prefixes->bits == 32 ? 32 : 128, prefixes->count, NULL, 0);

	for (uint32_t i = 0; i < prefixes->count; i++) {
		const struct prefix *prefix = &prefixes->list[i];
		const uint64_t mask = prefix_mask(prefixes->bits, prefix->length), narrow[2] = { prefix->value, mask };
		const uint64_t wide[2] = { 0, prefix->value }, wide_mask[2] = { 0, mask };
		const struct table_match match = {
			.value = prefixes->bits == 32 ? narrow : wide, .mask = prefixes->bits == 32 ? narrow + 1 : wide_mask,
		};

		table_add(writer, &match, prefix->next_hop);
	}
	writer_compact(writer);
	return writer;
}

/* What issuing a tree's kernel takes: its cycles for a few prefixes, whose lines stay in the first-level cache. */
static double
btree_issue(const struct writer *writer, const struct prefixes *prefixes, const struct kernel *kernel)
{
	const uint32_t count = prefixes->count < FEW ? prefixes->count : FEW;
	/* They are sorted by length. */
	const struct prefixes few = { .list = prefixes->list + prefixes->count - count, .count = count, .bits = prefixes->bits };
	struct prefix_trace trace = prefix_trace_draw(&few);
	const struct prefix_draw draw = { .prefixes = &few, .writer = writer, .trace = &trace };
	const double cycles = row_cost(&(const struct row){ .draw = prefix_draw, .expect = prefix_expect, .context = &draw }, kernel, 1);

	prefix_trace_give(&trace);
	return cycles;
}

static struct rte_lpm *
lpm_make(const struct prefixes *prefixes)
{
	struct rte_lpm_config config = { .max_rules = prefixes->count + 16, .number_tbl8s = 65536 };
	struct rte_lpm *table = rte_lpm_create("lpm", memory_socket((size_t)512 << 20), &config);

	/* Each insertion goes through all routes of the same length. */
	if (prefixes->count > 200000)
		fprintf(stderr, "lookup: rte_lpm takes half a minute for 600,000 routes\n");
	for (uint32_t i = 0; table != NULL && i < prefixes->count; i++)
		if (rte_lpm_add(table, (uint32_t)prefixes->list[i].value, (uint8_t)prefixes->list[i].length, prefixes->list[i].next_hop) != 0) {
			fprintf(stderr, "lookup: rte_lpm refuses a route\n");
			exit(1);
		}
	return table;
}

static struct rte_fib *
fib_make(const struct prefixes *prefixes)
{
	struct rte_fib_conf config = { .type = RTE_FIB_DIR24_8, .default_nh = 0, .max_routes = (int)prefixes->count + 16,
		.dir24_8 = { .nh_sz = RTE_FIB_DIR24_8_2B, .num_tbl8 = 32767 } };
	struct rte_fib *table = rte_fib_create("fib", memory_socket((size_t)512 << 20), &config);

	for (uint32_t i = 0; table != NULL && i < prefixes->count; i++)
		if (rte_fib_add(table, (uint32_t)prefixes->list[i].value, (uint8_t)prefixes->list[i].length, prefixes->list[i].next_hop) != 0)
			exit(1);
	if (table != NULL && rte_fib_select_lookup(table, RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512) != 0)
		rte_fib_select_lookup(table, RTE_FIB_LOOKUP_DIR24_8_SCALAR_MACRO);
	return table;
}

/* The same of kernels for an array: of the cheapest one, for a few addresses of the trace again and again. So it has as many longer prefixes as the trace. */
static double
dir24_8_issue(const struct prefix_draw *draw, const struct kernel *kernels)
{
	uint64_t addresses[SAMPLE];
	struct prefix_trace few = { .addresses = addresses, .count = SAMPLE };
	struct prefix_draw again = *draw;

	for (uint32_t i = 0; i < SAMPLE; i++)
		addresses[i] = draw->trace->addresses[i % FEW_ADDRESSES];
	again.trace = &few;
	return row_cost(&(const struct row){ .draw = prefix_draw, .expect = prefix_expect, .context = &again }, kernels, OURS_COUNT);
}

/* Entries of one byte, and of two, each beside all peers. */
static void
ipv4_rows(const char *const *names, const struct prefixes *prefixes)
{
	struct writer *writers[] = { prefix_make(STRUCTURE_DIR24_8_U8, prefixes), prefix_make(STRUCTURE_DIR24_8_U16, prefixes) };
	struct prefix_trace trace = prefix_trace_draw(prefixes);
	struct rte_fib *fib = fib_make(prefixes);
	struct rte_lpm *lpm = lpm_make(prefixes);
	const double longer = dir24_8_longer_share((const void *)writer_table(writers[0]), &trace);

	for (uint32_t i = 0; i < 2; i++) {
		const struct prefix_draw draw = { .prefixes = prefixes, .writer = writers[i], .trace = &trace, .table = writer_table(writers[i]) };
		struct row row = { .name = names[i], .entries = prefixes->count, .draw = prefix_draw, .expect = prefix_expect,
			.context = &draw, .lines = i == 0 ? dir24_8_u8_1_lines : dir24_8_u16_1_lines,
			/* With entries of one byte, a group is found by another line. */
			.lines_each = 1 + (i == 0 ? 2 : 1) * longer };
		struct kernel u8[] = { OURS(dir24_8_u8, 1, draw.table) }, u16[] = { OURS(dir24_8_u16, 1, draw.table) };
		struct kernel kernels[OURS_COUNT + 2] = {
			[OURS_COUNT] = { "rte_fib 2 B", fib_run, fib, BY_DPDK, NULL }, [OURS_COUNT + 1] = { "rte_lpm x4", lpm_run, lpm, BY_DPDK, NULL },
		};

		if (!row_wanted(names[i]))
			continue;
		memcpy(kernels, i == 0 ? u8 : u16, sizeof(u8));
		row.issue = dir24_8_issue(&draw, kernels);
		row_run(&row, kernels, OURS_COUNT + 2);
	}
	rte_fib_free(fib);
	rte_lpm_free(lpm);
	writer_destroy(writers[0]);
	writer_destroy(writers[1]);
	prefix_trace_give(&trace);
}

static void
ipv6_row(const char *name, const struct prefixes *prefixes)
{
	struct writer *writer = prefix_make(STRUCTURE_BTREE, prefixes), *trie = prefix_make(STRUCTURE_LPM_TRIE, prefixes);
	struct prefix_trace trace = prefix_trace_draw(prefixes);
	struct prefix_draw draw = { .prefixes = prefixes, .writer = writer, .trace = &trace, .table = writer_table(writer) };
	struct row row = { .name = name, .entries = prefixes->count, .draw = prefix_draw, .expect = prefix_expect, .lines = btree_2_lines,
		.lines_each = 1, .context = &draw };
	struct rte_fib6_conf fib_config = { .type = RTE_FIB6_TRIE, .default_nh = 0, .max_routes = (int)prefixes->count + 16,
		.trie = { .nh_sz = RTE_FIB6_TRIE_4B, .num_tbl8 = 600000 } };
	struct rte_lpm6_config lpm_config = { .max_rules = prefixes->count + 16, .number_tbl8s = 600000 };
	const int socket = memory_socket((size_t)2200 << 20);
	struct rte_fib6 *fib = rte_fib6_create("fib6", socket, &fib_config);
	struct rte_lpm6 *lpm = rte_lpm6_create("lpm6", socket, &lpm_config);

	for (uint32_t i = 0; i < prefixes->count; i++) {
		const uint64_t value = __builtin_bswap64(prefixes->list[i].value);
		uint8_t address[16] = { 0 };

		memcpy(address, &value, sizeof(value));
		if (fib == NULL || lpm == NULL || rte_fib6_add(fib, address, (uint8_t)prefixes->list[i].length, prefixes->list[i].next_hop) != 0 ||
		    rte_lpm6_add(lpm, address, (uint8_t)prefixes->list[i].length, prefixes->list[i].next_hop) != 0) {
			printf("\n%s: left out, DPDK's tables refuse a route\n", name);
			rte_fib6_free(fib);
			rte_lpm6_free(lpm);
			writer_destroy(writer);
			writer_destroy(trie);
			prefix_trace_give(&trace);
			return;
		}
	}
	if (rte_fib6_select_lookup(fib, RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512) != 0)
		rte_fib6_select_lookup(fib, RTE_FIB6_LOOKUP_TRIE_SCALAR);
	{
		struct kernel kernels[] = {
			{ "btree plain", btree_2_plain, writer_table(writer), BY_US, table_decode },
			{ "btree, group", btree_2_group, writer_table(writer), BY_US, table_decode },
			{ "lpm_trie plain", lpm_trie_2_plain, writer_table(trie), BY_US, table_decode },
			{ "lpm_trie, group", lpm_trie_2_group, writer_table(trie), BY_US, table_decode },
			{ "lpm_trie requested", lpm_trie_2_requested, writer_table(trie), BY_US, table_decode },
			{ "rte_fib6", fib6_run, fib, BY_DPDK, NULL }, { "rte_lpm6", lpm6_run, lpm, BY_DPDK, NULL },
		};

		draw.nodes = btree_nodes((const void *)writer_table(writer), &trace);
		row.issue = btree_issue(writer, prefixes, &kernels[1]);
		row_run(&row, kernels, 7);
		memory_give(draw.nodes, trace.count * BTREE_LEVELS * sizeof(*draw.nodes));
	}
	rte_fib6_free(fib);
	rte_lpm6_free(lpm);
	writer_destroy(writer);
	writer_destroy(trie);
	prefix_trace_give(&trace);
}

void
bench_prefix(void)
{
	const char *const real[] = { "ipv4, real table", "ipv4, real table, 2 B" }, *const drawn[] = { "ipv4, drawn table", "ipv4, drawn table, 2 B" };
	const char *const *ipv4 = options.rib != NULL ? real : drawn, *const ipv6 = "ipv6, drawn table";
	struct prefixes prefixes;

	/* The longer name has the other in it. */
	if (row_wanted(ipv4[1])) {
		random_begin();
		prefixes = options.rib != NULL ? prefixes_read_ipv4(options.rib) : prefixes_draw_ipv4(options.quick ? 100000 : DRAWN_IPV4);
		ipv4_rows(ipv4, &prefixes);
		free(prefixes.list);
	}
	if (row_wanted(ipv6)) {
		random_begin();
		prefixes = prefixes_draw_ipv6(options.quick ? 50000 : DRAWN_IPV6);
		ipv6_row(ipv6, &prefixes);
		free(prefixes.list);
	}
}
