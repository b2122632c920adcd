/* Which tables may share an array, and which may not; and that one which may not, or for which there is no memory, leaves the array's owner as it was. */
#include "table_host.h"
#include "test.h"

#define REFUSALS_KEY_BITS 48u
#define REFUSALS_GUEST_BITS 6u

static struct table_descriptor
refusals_owner(uint32_t structure)
{
	struct table_descriptor descriptor = test_descriptor(structure, REFUSALS_KEY_BITS, 0, 0);

	descriptor.part_shift = REFUSALS_GUEST_BITS;
	descriptor.part_bits = 16 - REFUSALS_GUEST_BITS;
	return descriptor;
}

static struct table_descriptor
refusals_guest(uint32_t structure)
{
	struct table_descriptor descriptor = test_descriptor(structure, REFUSALS_KEY_BITS, 0, 0);

	descriptor.beside = 1;
	descriptor.part_bits = REFUSALS_GUEST_BITS;
	return descriptor;
}

static void
refusals_refuse(const struct table_descriptor *descriptor, struct writer *owner)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_host host = test_table_host(&memory);
	enum table_status status = TABLE_OK;

	CHECK(writer_create_beside(descriptor, &host, owner, &status) == NULL && status == TABLE_INVALID);
	if (owner == NULL)
		CHECK(writer_create(descriptor, &host, &status) == NULL && status == TABLE_INVALID);
	CHECK(memory.bytes == 0);
}

/* What a table with a part cannot be, with an owner or without one. */
static void
refusals_parts(struct table_descriptor right, struct writer *owner)
{
	static const uint32_t others[] = { STRUCTURE_EXACT, STRUCTURE_PERFECT, STRUCTURE_DIRECT, STRUCTURE_COMPARE, STRUCTURE_DIR24_8, STRUCTURE_SCAN };
	struct table_descriptor wrong = right;

	wrong.records_own = 1;
	refusals_refuse(&wrong, owner);
	wrong = right;
	wrong.part_bits = 17 - right.part_shift;
	refusals_refuse(&wrong, owner);
	wrong.part_bits = UINT32_MAX;
	refusals_refuse(&wrong, owner);
	wrong = right;
	wrong.part_shift = 17 - right.part_bits;
	refusals_refuse(&wrong, owner);
	wrong.part_shift = UINT32_MAX;
	refusals_refuse(&wrong, owner);
	for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		wrong = right;
		wrong.structure = others[i];
		wrong.key_bits = 16;
		refusals_refuse(&wrong, owner);
	}
}

/* What cannot be beside the owner, though it has a part. */
static void
refusals_beside(uint32_t structure, struct writer *owner)
{
	const struct table_descriptor right = refusals_guest(structure);
	struct table_descriptor wrong = right;

	refusals_refuse(&wrong, NULL);
	wrong.beside = 0;
	refusals_refuse(&wrong, owner);
	wrong = right;
	wrong.structure = structure == STRUCTURE_EXACT48 ? STRUCTURE_EXACT60 : STRUCTURE_EXACT48;
	refusals_refuse(&wrong, owner);
	wrong = right;
	wrong.key_bits--;
	refusals_refuse(&wrong, owner);
	wrong = right;
	wrong.part_bits = 0;
	refusals_refuse(&wrong, owner);
	wrong.part_bits = REFUSALS_GUEST_BITS + 1;
	refusals_refuse(&wrong, owner);
	wrong = right;
	for (wrong.part_shift = 1; wrong.part_shift <= 16 - right.part_bits; wrong.part_shift++)
		refusals_refuse(&wrong, owner);
}

/* Whatever piece of memory a guest's writer does not get, another guest may come. */
static void
refusals_memory(uint32_t structure, struct writer *owner)
{
	const struct table_descriptor descriptor = refusals_guest(structure);
	struct writer *guest = NULL;
	uint64_t allocations = 0;

	for (; guest == NULL; allocations++) {
		struct test_host memory = { .allocations_left = allocations };
		const struct table_host host = test_table_host(&memory);
		enum table_status status;

		guest = writer_create_beside(&descriptor, &host, owner, &status);
		CHECK(status == (guest != NULL ? TABLE_OK : TABLE_NO_MEMORY));
		if (guest != NULL)
			writer_destroy(guest);
		CHECK(memory.bytes == 0);
	}
	CHECK(allocations > 2);
}

/* Who is no owner: a table that is alone, one with a guest, a guest, and one whose part is all there is. */
static void
refusals_owners(uint32_t structure, struct writer *owner)
{
	const struct table_descriptor alone = test_descriptor(structure, REFUSALS_KEY_BITS, 0, 0), right = refusals_guest(structure);
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
	other = writer_create_beside(&right, &host, owner, NULL);
	CHECK(other != NULL);
	refusals_refuse(&right, owner);
	behind.part_shift = REFUSALS_GUEST_BITS;
	refusals_refuse(&behind, other);
	writer_destroy(other);
	/* Which one has the lower bits does not matter. */
	whole.part_bits = 16 - REFUSALS_GUEST_BITS;
	behind.part_shift = 16 - REFUSALS_GUEST_BITS;
	owner = writer_create(&whole, &host, NULL);
	other = writer_create_beside(&behind, &host, owner, NULL);
	CHECK(owner != NULL && other != NULL);
	writer_destroy(other);
	writer_destroy(owner);
	CHECK(memory.bytes == 0);
}

void
test_table_shared_refusals(void)
{
	static const uint32_t structures[] = { STRUCTURE_EXACT48, STRUCTURE_EXACT60 };

	for (uint32_t i = 0; i < 2; i++) {
		struct test_host memory = { .allocations_left = UINT64_MAX };
		const struct table_host host = test_table_host(&memory);
		const struct table_descriptor descriptor = refusals_owner(structures[i]);
		struct writer *owner = writer_create(&descriptor, &host, NULL);

		CHECK(owner != NULL);
		refusals_parts(descriptor, NULL);
		refusals_parts(refusals_guest(structures[i]), owner);
		refusals_beside(structures[i], owner);
		refusals_owners(structures[i], owner);
		refusals_memory(structures[i], owner);
		writer_destroy(owner);
		CHECK(memory.bytes == 0);
	}
}
