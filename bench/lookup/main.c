/* Lookups alone: our tables beside DPDK's, the same keys, the same pages, one process, bursts of 32. `make bench-lookup` in the project's directory. */
#define _GNU_SOURCE
#include <sched.h>

#include <rte_eal.h>

#include "lookup.h"

struct options options;

static void
usage(void)
{
	fprintf(stderr, "usage: lookup [--rib FILE] [--only PART] [--out FILE.json] [--quick]\n");
	exit(2);
}

static void
options_read(int count, char **words)
{
	for (int i = 1; i < count; i++) {
		const char **place = strcmp(words[i], "--rib") == 0 ? &options.rib
			: strcmp(words[i], "--only") == 0 ? &options.only : strcmp(words[i], "--out") == 0 ? &options.out : NULL;

		if (strcmp(words[i], "--quick") == 0)
			options.quick = 1;
		else if (place == NULL || i + 1 == count)
			usage();
		else
			*place = words[++i];
	}
}

int
main(int count, char **words)
{
	char core[32];
	char *eal[] = { "lookup", "--lcores", core, "--no-huge", "-m", "64", "--no-pci", "--no-shconf", "--no-telemetry", "--log-level=3",
			"--force-max-simd-bitwidth=512" };

	options_read(count, words);
	/* Where the process is, so that `taskset` decides. */
	snprintf(core, sizeof(core), "0@%d", sched_getcpu());
	if (rte_eal_init(sizeof(eal) / sizeof(eal[0]), eal) < 0) {
		fprintf(stderr, "lookup: DPDK does not start\n");
		return 1;
	}
	printf("pages: %s. Cycles of the time stamp counter for each lookup, burst %u, medians;\n"
	       "samples are taken again while another thread of the core is seen.\n", memory_pages(), BURST);
	printf("R: to the best of DPDK's; F: to the floor of our best structure there: reading the lines of such lookups, in turns with them, + the same code in\n"
	       "a few entries.\n");
	bench_exact();
	bench_dependent();
	bench_prefix();
	bench_ternary();
	if (!rows_any()) {
		fprintf(stderr, "lookup: no row%s has `%s` in its name\n", options.quick ? " that --quick leaves" : "", options.only);
		return 2;
	}
	if (options.out != NULL)
		records_write(options.out);
	return 0;
}
