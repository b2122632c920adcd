/* Which tables can be joint and which cannot; failed attempts, also for lack of memory, leave the primary as
 * it was. */
#include "table_host.h"
#include "test.h"

#define REFUSALS_KEY_BITS 48u
#define REFUSALS_SECONDARY_BITS 6u

static struct table_descriptor
refusals_primary(uint32_t structure)
{
	struct table_descriptor descriptor = test_descriptor(structure, REFUSALS_KEY_BITS, 0, 0);

	descriptor.part_shift = REFUSALS_SECONDARY_BITS;
	descriptor.part_bits = 16 - REFUSALS_SECONDARY_BITS;
	return descriptor;
}

static struct table_descriptor
refusals_secondary(uint32_t structure)
{
	struct table_descriptor descriptor = test_descriptor(structure, REFUSALS_KEY_BITS, 0, 0);

	descriptor.primary = 1;
	descriptor.part_bits = REFUSALS_SECONDARY_BITS;
	return descriptor;
}

static void
refusals_refuse(const struct table_descriptor *descriptor, struct writer *primary)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_host host = test_table_host(&memory);
	enum table_status status = TABLE_OK;

	CHECK(writer_create_secondary(descriptor, &host, primary, &status) == NULL && status == TABLE_INVALID);
	if (primary == NULL)
		CHECK(writer_create(descriptor, &host, &status) == NULL && status == TABLE_INVALID);
	CHECK(memory.bytes == 0);
}

/* Properties that a table with a part cannot have, with or without a primary. */
static void
refusals_parts(struct table_descriptor right, struct writer *primary)
{
	static const uint32_t others[] = { STRUCTURE_EXACT, STRUCTURE_PERFECT, STRUCTURE_DIRECT, STRUCTURE_COMPARE, STRUCTURE_DIR24_8, STRUCTURE_SCAN };
	struct table_descriptor wrong = right;

	wrong.records_own = 1;
	refusals_refuse(&wrong, primary);
	wrong = right;
	wrong.part_bits = 17 - right.part_shift;
	refusals_refuse(&wrong, primary);
	wrong.part_bits = UINT32_MAX;
	refusals_refuse(&wrong, primary);
	wrong = right;
	wrong.part_shift = 17 - right.part_bits;
	refusals_refuse(&wrong, primary);
	wrong.part_shift = UINT32_MAX;
	refusals_refuse(&wrong, primary);
	for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		wrong = right;
		wrong.structure = others[i];
		wrong.key_bits = 16;
		refusals_refuse(&wrong, primary);
	}
}

/* Tables that cannot be joined to the primary, though they have a part. */
static void
refusals_joint(uint32_t structure, struct writer *primary)
{
	const struct table_descriptor right = refusals_secondary(structure);
	struct table_descriptor wrong = right;

	refusals_refuse(&wrong, NULL);
	wrong.primary = 0;
	refusals_refuse(&wrong, primary);
	wrong = right;
	wrong.structure = structure == STRUCTURE_EXACT48 ? STRUCTURE_EXACT60 : STRUCTURE_EXACT48;
	refusals_refuse(&wrong, primary);
	wrong = right;
	wrong.key_bits--;
	refusals_refuse(&wrong, primary);
	wrong = right;
	wrong.part_bits = 0;
	refusals_refuse(&wrong, primary);
	wrong.part_bits = REFUSALS_SECONDARY_BITS + 1;
	refusals_refuse(&wrong, primary);
	wrong = right;
	for (wrong.part_shift = 1; wrong.part_shift <= 16 - right.part_bits; wrong.part_shift++)
		refusals_refuse(&wrong, primary);
}

/* Whatever allocation of a secondary's writer fails, another secondary can be created. */
static void
refusals_memory(uint32_t structure, struct writer *primary)
{
	const struct table_descriptor descriptor = refusals_secondary(structure);
	struct writer *secondary = NULL;
	uint64_t allocations = 0;

	for (; secondary == NULL; allocations++) {
		struct test_host memory = { .allocations_left = allocations };
		const struct table_host host = test_table_host(&memory);
		enum table_status status;

		secondary = writer_create_secondary(&descriptor, &host, primary, &status);
		CHECK(status == (secondary != NULL ? TABLE_OK : TABLE_NO_MEMORY));
		if (secondary != NULL)
			writer_destroy(secondary);
		CHECK(memory.bytes == 0);
	}
	CHECK(allocations > 2);
}

/* Tables that cannot be primary: one without part, one with a secondary, a secondary, and one whose part is
 * everything. */
static void
refusals_primaries(uint32_t structure, struct writer *primary)
{
	const struct table_descriptor alone = test_descriptor(structure, REFUSALS_KEY_BITS, 0, 0), right = refusals_secondary(structure);
	struct table_descriptor whole = alone, behind = right;
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_host host = test_table_host(&memory);
	struct writer *other = writer_create(&alone, &host, NULL);

	refusals_refuse(&right, other);
	writer_destroy(other);
	whole.part_bits = 16;
	other = writer_create(&whole, &host, NULL);
	CHECK(other != NULL);
	refusals_refuse(&right, other);
	writer_destroy(other);
	other = writer_create_secondary(&right, &host, primary, NULL);
	CHECK(other != NULL);
	refusals_refuse(&right, primary);
	behind.part_shift = REFUSALS_SECONDARY_BITS;
	refusals_refuse(&behind, other);
	writer_destroy(other);
	/* Either table may have the lower bits. */
	whole.part_bits = 16 - REFUSALS_SECONDARY_BITS;
	behind.part_shift = 16 - REFUSALS_SECONDARY_BITS;
	primary = writer_create(&whole, &host, NULL);
	other = writer_create_secondary(&behind, &host, primary, NULL);
	CHECK(primary != NULL && other != NULL);
	writer_destroy(other);
	writer_destroy(primary);
	CHECK(memory.bytes == 0);
}

void
test_table_joint_refusals(void)
{
	static const uint32_t structures[] = { STRUCTURE_EXACT48, STRUCTURE_EXACT60 };

	for (uint32_t i = 0; i < 2; i++) {
		struct test_host memory = { .allocations_left = UINT64_MAX };
		const struct table_host host = test_table_host(&memory);
		const struct table_descriptor descriptor = refusals_primary(structures[i]);
		struct writer *primary = writer_create(&descriptor, &host, NULL);

		CHECK(primary != NULL);
		refusals_parts(descriptor, NULL);
		refusals_parts(refusals_secondary(structures[i]), primary);
		refusals_joint(structures[i], primary);
		refusals_primaries(structures[i], primary);
		refusals_memory(structures[i], primary);
		writer_destroy(primary);
		CHECK(memory.bytes == 0);
	}
}
