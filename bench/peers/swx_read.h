/* A SWX specification (.spec), configured by the library's C interface: the library itself reads such a file only to write C for it. As much of the
 * language as our programs use: structs, headers, metadata, actions, tables, and the pipeline. */
#ifndef BACUS_PEER_SWX_READ_H
#define BACUS_PEER_SWX_READ_H

#include <rte_swx_pipeline.h>

#define SWX_MOST 64u	/* lines in a block */
#define SWX_WORDS 8u
#define SWX_LINE 256u

/* One line: as it is written, and its words. */
struct swx_line {
	char text[SWX_LINE];
	char copy[SWX_LINE];
	const char *words[SWX_WORDS];
	uint32_t count;
};

/* 0 at the end of the file. Empty lines and comments are passed over. */
static int
swx_next(FILE *file, struct swx_line *line)
{
	char *rest;

	do {
		if (fgets(line->text, sizeof(line->text), file) == NULL)
			return 0;
		line->text[strcspn(line->text, "\n")] = '\0';
		memcpy(line->copy, line->text, sizeof(line->copy));
		line->count = 0;
		for (char *word = strtok_r(line->copy, " \t", &rest); word != NULL && line->count < SWX_WORDS; word = strtok_r(NULL, " \t", &rest))
			line->words[line->count++] = word;
	} while (line->count == 0 || strncmp(line->words[0], "//", 2) == 0);
	return 1;
}

/* The lines up to a closing brace. */
static uint32_t
swx_block(FILE *file, struct swx_line lines[SWX_MOST])
{
	uint32_t count = 0;

	while (count < SWX_MOST && swx_next(file, &lines[count]) && strcmp(lines[count].words[0], "}") != 0)
		count++;
	return count;
}

static int
swx_read_struct(struct rte_swx_pipeline *pipeline, const char *name, FILE *file)
{
	struct swx_line lines[SWX_MOST];
	struct rte_swx_field_params fields[SWX_MOST];
	const uint32_t count = swx_block(file, lines);

	for (uint32_t i = 0; i < count; i++)
		fields[i] = (struct rte_swx_field_params){ lines[i].words[1], (uint32_t)atoi(lines[i].words[0] + strlen("bit<")) };
	return rte_swx_pipeline_struct_type_register(pipeline, name, fields, count, 0);
}

static uint32_t
swx_instructions(FILE *file, struct swx_line lines[SWX_MOST], const char *instructions[SWX_MOST])
{
	const uint32_t count = swx_block(file, lines);

	for (uint32_t i = 0; i < count; i++)
		instructions[i] = lines[i].text;
	return count;
}

static int
swx_read_action(struct rte_swx_pipeline *pipeline, const struct swx_line *head, FILE *file)
{
	struct swx_line lines[SWX_MOST];
	const char *instructions[SWX_MOST];
	const char *data = strcmp(head->words[3], "none") == 0 ? NULL : head->words[4];
	const uint32_t count = swx_instructions(file, lines, instructions);

	return rte_swx_pipeline_action_config(pipeline, head->words[1], data, instructions, count);
}

static int
swx_read_table(struct rte_swx_pipeline *pipeline, const char *name, FILE *file)
{
	struct swx_line keys[SWX_MOST], names[SWX_MOST], line, missed;
	struct rte_swx_match_field_params fields[SWX_MOST];
	const char *actions[SWX_MOST];
	struct rte_swx_pipeline_table_params params = { .fields = fields, .action_names = actions };
	uint32_t size = 0;

	while (swx_next(file, &line) && strcmp(line.words[0], "}") != 0) {
		if (strcmp(line.words[0], "key") == 0) {
			params.n_fields = swx_block(file, keys);
		} else if (strcmp(line.words[0], "actions") == 0) {
			params.n_actions = swx_block(file, names);
		} else if (strcmp(line.words[0], "default_action") == 0) {
			missed = line;
			params.default_action_name = missed.copy + (line.words[1] - line.copy);
		} else {
			size = (uint32_t)atoi(line.words[1]);
		}
	}
	for (uint32_t i = 0; i < params.n_fields; i++) {
		const char *kind = keys[i].words[1];

		fields[i].name = keys[i].words[0];
		fields[i].match_type = strcmp(kind, "exact") == 0 ? RTE_SWX_TABLE_MATCH_EXACT
				       : strcmp(kind, "lpm") == 0 ? RTE_SWX_TABLE_MATCH_LPM
								  : RTE_SWX_TABLE_MATCH_WILDCARD;
	}
	for (uint32_t i = 0; i < params.n_actions; i++)
		actions[i] = names[i].words[0];
	return rte_swx_pipeline_table_config(pipeline, name, &params, NULL, NULL, size);
}

/* 0 on success; else `at` is the line that begins what the library refuses. */
static inline int
swx_read(struct rte_swx_pipeline *pipeline, FILE *file, struct swx_line *at)
{
	struct swx_line lines[SWX_MOST];
	const char *instructions[SWX_MOST];
	int status = 0;

	while (status == 0 && swx_next(file, at)) {
		if (strcmp(at->words[0], "struct") == 0)
			status = swx_read_struct(pipeline, at->words[1], file);
		else if (strcmp(at->words[0], "header") == 0)
			status = rte_swx_pipeline_packet_header_register(pipeline, at->words[1], at->words[3]);
		else if (strcmp(at->words[0], "metadata") == 0)
			status = rte_swx_pipeline_packet_metadata_register(pipeline, at->words[2]);
		else if (strcmp(at->words[0], "action") == 0)
			status = swx_read_action(pipeline, at, file);
		else if (strcmp(at->words[0], "table") == 0)
			status = swx_read_table(pipeline, at->words[1], file);
		else
			status = rte_swx_pipeline_instructions_config(pipeline, instructions, swx_instructions(file, lines, instructions));
	}
	return status;
}

#endif
