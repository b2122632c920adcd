/* Runs all tests, or those named on the command line. */
#include "test.h"

#include <string.h>

unsigned test_failures;

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "bits", test_bits },
	{ "wide", test_wide },
	{ "extern", test_extern },
	{ "packet", test_packet },
	{ "ring", test_ring },
	{ "frames", test_frames },
	{ "merge", test_merge },
	{ "memif", test_memif },
	{ "spread", test_spread },
	{ "sleep", test_sleep },
	{ "lanes_8", test_lanes_8 },
	{ "lanes_16", test_lanes_16 },
	{ "table_actions", test_table_actions },
	{ "table_btree", test_table_btree },
	{ "table_bulk", test_table_bulk },
	{ "table_dir24_8", test_table_dir24_8 },
	{ "table_edges", test_table_edges },
	{ "table_empty", test_table_empty },
	{ "table_empty_threads", test_table_empty_threads },
	{ "table_exact60", test_table_exact60 },
	{ "table_halves", test_table_halves },
	{ "table_hash", test_table_hash },
	{ "table_model", test_table_model },
	{ "table_ordered", test_table_ordered },
	{ "table_joint", test_table_joint },
	{ "table_joint_refusals", test_table_joint_refusals },
	{ "table_joint_threads", test_table_joint_threads },
	{ "table_size", test_table_size },
	{ "table_threads", test_table_threads },
};

static int
test_is_wanted(const char *name, int count, char **wanted)
{
	for (int i = 1; i < count; i++)
		if (strcmp(wanted[i], name) == 0)
			return 1;
	return count == 1;
}

int
main(int count, char **wanted)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		const unsigned before = test_failures;

		if (!test_is_wanted(tests[i].name, count, wanted))
			continue;
		tests[i].run();
		printf("%-22s %s\n", tests[i].name, test_failures == before ? "ok" : "FAILED");
		fflush(stdout);
	}
	return test_failures != 0;
}
