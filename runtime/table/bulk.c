/* Entries by the million: many inserted, or all deleted. What an insertion reads is far apart in memory, and the next
 * read depends on it. So the lines of some entries are prefetched before the first of them is inserted.
 *
 *    step 0   lines whose address follows from the match: buckets, chains, index
 *    step 1   what those lines lead to, when they have come
 *    then     the insertions, which find both in the cache
 */
#include "table/writer.h"

#define BULK_TOGETHER 16u	/* each requests several lines: more would find no room in the core */

enum table_status
writer_insert_all(struct writer *writer, const struct table_match *matches, const void *records, uint32_t count, uint32_t *done)
{
	const uint8_t *record = records;
	const uint32_t bytes = writer_table(writer)->record_bytes;
	enum table_status status = TABLE_OK;

	for (*done = 0; *done < count && status == TABLE_OK;) {
		const uint32_t end = count - *done > BULK_TOGETHER ? *done + BULK_TOGETHER : count;

		for (uint32_t step = 0; step < 2; step++)
			for (uint32_t i = *done; i < end; i++)
				writer_prefetch(writer, &matches[i], record + (size_t)i * bytes, step);
		while (*done < end && status == TABLE_OK) {
			status = writer_insert(writer, &matches[*done], record + (size_t)*done * bytes, NULL);
			*done += status == TABLE_OK;
		}
	}
	return status;
}

void
writer_clear(struct writer *writer)
{
	struct table_entry entry;
	uint64_t cursor = 0;

	while ((cursor = writer_next(writer, cursor, &entry)) != 0)
		if (writer_delete(writer, &entry.match) != TABLE_OK)
			break;	/* no memory: the rest stays */
}
