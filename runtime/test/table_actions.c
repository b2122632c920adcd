/* When a table is marked as having one action: not while an entry of another action exists, nor as long
 * as readers may still use one that they have found. */
#include "table/table.h"
#include "table_host.h"
#include "test.h"

#define ACTIONS 3u
#define CHURN 10000u	/* deletions that need a grace period at the latest */

struct actions_test {
	struct test_host memory;
	struct table_descriptor descriptor;
	struct writer *writer;
};

static struct test_record
actions_record(uint32_t action, uint32_t value)
{
	struct test_record record = test_record(value);

	record.action = action;
	return record;
}

static enum table_status
actions_insert(struct actions_test *test, uint64_t key, uint32_t action)
{
	const struct test_record record = actions_record(action, (uint32_t)key);

	return writer_insert(test->writer, &(const struct table_match){ .value = &key }, &record, NULL);
}

static enum table_status
actions_modify(struct actions_test *test, uint64_t key, uint32_t action)
{
	const struct test_record record = actions_record(action, (uint32_t)key);

	return writer_modify(test->writer, &(const struct table_match){ .value = &key }, &record);
}

static enum table_status
actions_delete(struct actions_test *test, uint64_t key)
{
	return writer_delete(test->writer, &(const struct table_match){ .value = &key });
}

/* Whether the table marks this as its one action, and none of the others; ACTIONS: marks none. */
static int
actions_say(const struct actions_test *test, uint32_t only)
{
	int as_said = 1;

	for (uint32_t action = 0; action < ACTIONS; action++)
		as_said &= table_runs_only(writer_table(test->writer), action) == (action == only);
	return as_said;
}

/* Writes until a grace period has passed. */
static void
actions_pass_grace(struct actions_test *test, uint32_t action)
{
	const uint64_t graces = test->memory.graces;

	for (uint64_t i = 0; i < CHURN && test->memory.graces == graces; i++) {
		CHECK(actions_insert(test, 1000 + i, action) == TABLE_OK);
		CHECK(actions_delete(test, 1000 + i) == TABLE_OK);
	}
	CHECK(test->memory.graces > graces);
	CHECK(actions_insert(test, 999, action) == TABLE_OK && actions_delete(test, 999) == TABLE_OK);
}

static void
actions_run(uint32_t own)
{
	struct actions_test test = {
		.memory = { .allocations_left = UINT64_MAX }, .descriptor = test_descriptor(STRUCTURE_EXACT, 64, own, 0),
	};
	const struct table_host host = test_table_host(&test.memory);
	const struct test_record other = actions_record(2, 7);

	test.descriptor.action_count = ACTIONS;
	test.writer = writer_create(&test.descriptor, &host, NULL);
	CHECK(actions_say(&test, ACTIONS));
	CHECK(actions_insert(&test, 1, 1) == TABLE_OK && actions_say(&test, 1));
	/* A lookup finds neither the action of a miss nor a refused one. */
	CHECK(writer_set_default(test.writer, &other) == TABLE_OK && actions_say(&test, 1));
	CHECK(actions_insert(&test, 1, 0) == TABLE_EXISTS && actions_say(&test, 1));
	CHECK(actions_insert(&test, 2, 0) == TABLE_OK && actions_say(&test, ACTIONS));
	CHECK(actions_delete(&test, 2) == TABLE_OK && actions_say(&test, ACTIONS));
	CHECK(actions_insert(&test, 3, 1) == TABLE_OK && actions_say(&test, ACTIONS));
	actions_pass_grace(&test, 1);
	CHECK(actions_say(&test, 1));
	CHECK(actions_modify(&test, 1, 0) == TABLE_OK && actions_say(&test, ACTIONS));
	CHECK(actions_modify(&test, 3, 0) == TABLE_OK && actions_say(&test, ACTIONS));
	actions_pass_grace(&test, 0);
	CHECK(actions_say(&test, 0));
	CHECK(actions_modify(&test, 3, 0) == TABLE_OK && actions_say(&test, 0));
	/* What goes and comes back with the same action was never another one. */
	CHECK(actions_delete(&test, 1) == TABLE_OK && actions_delete(&test, 3) == TABLE_OK && actions_say(&test, ACTIONS));
	CHECK(actions_insert(&test, 3, 0) == TABLE_OK && actions_say(&test, 0));
	CHECK(actions_insert(&test, 5, 2) == TABLE_OK && actions_delete(&test, 5) == TABLE_OK && actions_say(&test, ACTIONS));
	writer_compact(test.writer);
	CHECK(actions_say(&test, 0));
	writer_clear(test.writer);
	CHECK(actions_say(&test, ACTIONS));
	/* An action that the program does not have is none to speak of. */
	CHECK(actions_insert(&test, 4, ACTIONS + 4) == TABLE_OK && actions_say(&test, ACTIONS));
	writer_destroy(test.writer);
	CHECK(test.memory.bytes == 0);
}

void
test_table_actions(void)
{
	for (uint32_t own = 0; own < 2; own++)
		actions_run(own);
}
