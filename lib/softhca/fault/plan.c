/* SPDX-License-Identifier: BSD-3-Clause */
/* A faults file, parsed. */
#include "fault/plan.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/refuse.h"
#include "base/text.h"
#include "fault/verb.h"

#define DEFAULT_SEED 1
#define WORDS_MAX    16
#define LIST_MAX     1024
#define BLANKS       " \t\r"

/** A percentage is counted in millionths of a percent: 6 decimals. */
#define DECIMALS    6
#define PERCENT     1000000u
#define ALL_PERCENT (100u * PERCENT)

/** A frame is cut to an Ethernet header at the shortest. */
#define MIN_FRAME 14
#define MAX_BY    1024

struct parse {
	unsigned int nb_devices;
	char *word[WORDS_MAX];
	unsigned int nb, at; /* of the words, and the next one */
	unsigned int said;   /* enum shca_fault_word, and SAID_OF */
	struct shca_fault *fault;
	struct shca_refusal refusal;
};

#define SAID_OF (1u << 31)

static const char *
take(struct parse *parse)
{
	return parse->at < parse->nb ? parse->word[parse->at++] : NULL;
}

/** Refuse a word that is wrong or missing. */
#define refuse_word(parse, word, format, ...)                                                      \
	((word) != NULL ? shca_refuse(&parse->refusal, "'%s': " format, word, __VA_ARGS__)         \
			: shca_refuse(&parse->refusal, "at its end: " format, __VA_ARGS__))

static bool
read_number(const char *word, uint64_t max, uint64_t *number)
{
	return word != NULL && shca_text_number(word, 10, max, number);
}

static int
take_number(struct parse *parse, const char *after, uint64_t min, uint64_t max, uint64_t *number)
{
	const char *word = take(parse);

	if (read_number(word, max, number) && *number >= min)
		return 0;
	if (max == UINT64_MAX)
		return refuse_word(parse, word, "%s is followed by a number from %llu", after,
			(unsigned long long)min);
	return refuse_word(parse, word, "%s is followed by a number from %llu to %llu", after,
		(unsigned long long)min, (unsigned long long)max);
}

/** Read "0.5%". @return millionths of a percent, or 0 unless it is within 0.000001% and 100%. */
static uint64_t
read_percent(const char *word)
{
	size_t length = strspn(word, "0123456789");
	uint64_t value = 0, unit = PERCENT;

	if (length == 0 || length > 3)
		return 0;
	for (size_t i = 0; i < length; i++)
		value = value * 10 + (uint64_t)(word[i] - '0');
	value *= PERCENT;
	word += length;
	if (*word == '.') {
		length = strspn(++word, "0123456789");
		if (length == 0 || length > DECIMALS)
			return 0;
		for (size_t i = 0; i < length; i++)
			value += (uint64_t)(word[i] - '0') * (unit /= 10);
		word += length;
	}
	return strcmp(word, "%") == 0 && value <= ALL_PERCENT ? value : 0;
}

static int
refuse_when(struct parse *parse, const char *word)
{
	return shca_refuse(&parse->refusal, "'%s': when is said already", word);
}

static int
take_chance(struct parse *parse, const char *word)
{
	uint64_t value = read_percent(word);

	if (parse->fault->when != SHCA_FAULT_UNSAID)
		return refuse_when(parse, word);
	if (value == 0)
		return shca_refuse(
			&parse->refusal, "'%s': a chance is from 0.000001%% to 100%%", word);
	parse->fault->when = SHCA_FAULT_CHANCE;
	parse->fault->chance = (value << 32) / ALL_PERCENT;
	return 0;
}

/** @return whether @p word is @p unit, in the plural or the singular. */
static bool
is_unit(const char *word, const char *unit)
{
	size_t length = strlen(unit) - 1;

	return strncmp(word, unit, length) == 0 &&
		(word[length] == '\0' || strcmp(word, unit) == 0);
}

/** Skip the unit that may follow a number ("every 100 frames"); refuse another unit. */
static int
skip_unit(struct parse *parse, const char *unit)
{
	static const char *const units[] = { "frames", "packets", "bytes", "bits", "wqes", "cqes",
		"calls", "rounds" };
	const char *next = parse->at < parse->nb ? parse->word[parse->at] : "";

	if (is_unit(next, unit)) {
		parse->at++;
		return 0;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (is_unit(next, units[i]))
			return shca_refuse(&parse->refusal, "'%s': these are %s", next, unit);
	return 0;
}

/** "at", "every", "from" and a number. */
static int
take_when(struct parse *parse, const char *word, enum shca_fault_when when)
{
	int ret;

	if (parse->fault->when != SHCA_FAULT_UNSAID)
		return refuse_when(parse, word);
	parse->fault->when = when;
	ret = take_number(parse, word, 1, UINT64_MAX, &parse->fault->n);
	return ret != 0 ? ret : skip_unit(parse, parse->fault->row->counts);
}

static int
take_at(struct parse *parse, const char *word)
{
	return take_when(parse, word, SHCA_FAULT_AT);
}

static int
take_every(struct parse *parse, const char *word)
{
	return take_when(parse, word, SHCA_FAULT_EVERY);
}

static int
take_from(struct parse *parse, const char *word)
{
	return take_when(parse, word, SHCA_FAULT_FROM);
}

static int
take_rx(struct parse *parse, const char *word)
{
	(void)parse;
	(void)word;
	return 0;
}

static int
take_tx(struct parse *parse, const char *word)
{
	(void)word;
	parse->fault->is_tx = true;
	return 0;
}

static int
take_by(struct parse *parse, const char *word)
{
	int ret = take_number(parse, word, 1, MAX_BY, &parse->fault->number);

	return ret != 0 ? ret : skip_unit(parse, parse->fault->row->counts);
}

/** Read "10ms". @return nanoseconds, or 0 unless it is a time of up to an hour. */
static uint64_t
read_time(const char *word)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	const uint64_t most = 3600u * units[2].ns;
	char *end;
	unsigned long long value;

	if (word == NULL || !isdigit((unsigned char)word[0]))
		return 0;
	errno = 0;
	value = strtoull(word, &end, 10);
	for (size_t i = 0; errno == 0 && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].name) == 0 && value <= most / units[i].ns)
			return value * units[i].ns;
	return 0;
}

static int
take_by_time(struct parse *parse, const char *word)
{
	const char *time = take(parse);

	parse->fault->ns = read_time(time);
	if (parse->fault->ns == 0)
		return refuse_word(parse, time,
			"%s is followed by a time from 1us to 3600s, in us, ms or s", word);
	return 0;
}

static int
take_for(struct parse *parse, const char *word)
{
	const char *next = parse->at < parse->nb ? parse->word[parse->at] : "";
	const char *unit = next + strspn(next, "0123456789");
	int ret;

	if (unit != next && *unit != '\0')
		return take_by_time(parse, word);
	ret = take_number(parse, word, 1, UINT64_MAX, &parse->fault->number);
	return ret != 0 ? ret : skip_unit(parse, parse->fault->row->counts);
}

static int
take_to(struct parse *parse, const char *word)
{
	int ret = take_number(parse, word, MIN_FRAME, UINT32_MAX, &parse->fault->number);

	return ret != 0 ? ret : skip_unit(parse, "bytes");
}

static int
take_queue(struct parse *parse, const char *word)
{
	uint64_t number;
	int ret = take_number(parse, word, 1, UINT32_MAX, &number);

	parse->fault->queue = (uint32_t)number;
	return ret;
}

static int
take_of(struct parse *parse, const char *word)
{
	static const char prefix[] = "mlx5_";
	const char *name = take(parse);
	uint64_t number;

	if (name == NULL || strncmp(name, prefix, sizeof(prefix) - 1) != 0 ||
		!read_number(name + sizeof(prefix) - 1, parse->nb_devices - 1u, &number))
		return refuse_word(parse, name, "%s is followed by a device, mlx5_0 to mlx5_%u",
			word, parse->nb_devices - 1);
	parse->fault->device = (int)number;
	return 0;
}

/** Clauses, which may follow in any order. */
static const struct clause {
	const char *word;
	unsigned int bit; /* of struct shca_fault_row.words; 0: every row takes it */
	int (*take)(struct parse *parse, const char *word);
} clauses[] = {
	{ "at", 0, take_at },
	{ "every", 0, take_every },
	{ "from", 0, take_from },
	{ "rx", SHCA_FAULT_DIRECTION, take_rx },
	{ "tx", SHCA_FAULT_DIRECTION, take_tx },
	{ "queue", SHCA_FAULT_QUEUE, take_queue },
	{ "by", SHCA_FAULT_BY, take_by },
	{ "by", SHCA_FAULT_BY_TIME, take_by_time },
	{ "to", SHCA_FAULT_TO, take_to },
	{ "for", SHCA_FAULT_FOR, take_for },
	{ "of", SAID_OF, take_of },
};

static int
take_clause(struct parse *parse, const char *word)
{
	const struct shca_fault_row *row = parse->fault->row;

	if (strchr(word, '%') != NULL)
		return take_chance(parse, word);
	for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++) {
		const struct clause *clause = &clauses[i];

		if (strcmp(clause->word, word) != 0 || (clause->bit & ~(row->words | SAID_OF)) != 0)
			continue;
		if ((clause->bit & parse->said) != 0)
			return shca_refuse(&parse->refusal, "'%s': said already", word);
		parse->said |= clause->bit;
		return clause->take(parse, word);
	}
	return shca_refuse(&parse->refusal, "'%s': it is %s %s %s", word, row->subject, row->action,
		row->usage);
}

static int
take_verb(struct parse *parse)
{
	const char *word = take(parse);
	char names[LIST_MAX] = "any";

	if (word != NULL && strcmp(word, "any") == 0)
		return 0;
	if (word != NULL)
		parse->fault->verb = shca_verb_find(word);
	if (parse->fault->verb != NULL)
		return 0;
	for (const struct shca_verb *verb = shca_verbs; verb->name != NULL; verb++) {
		size_t length = strlen(names);

		snprintf(names + length, sizeof(names) - length, ", %s", verb->name);
	}
	return refuse_word(parse, word, "there are %s", names);
}

/** Read a syndrome in hexadecimal, as mlx5dv.h and drivers write it. */
static int
take_syndrome(struct parse *parse)
{
	const char *word = take(parse);
	unsigned long value = 0;
	char *end = NULL;

	if (word != NULL && isdigit((unsigned char)word[0]))
		value = strtoul(word, &end, 0);
	if (end == NULL || *end != '\0' || value == 0 || value > UINT8_MAX)
		return refuse_word(parse, word,
			"%s error is followed by a syndrome from 0x01 to 0xff",
			parse->fault->row->subject);
	parse->fault->syndrome = (uint8_t)value;
	return 0;
}

/** The words of rows: all subjects, or the actions of one. */
static void
list_rows(const char *subject, char *text, size_t size)
{
	const char *last = "";
	size_t used = 0;

	text[0] = '\0';
	for (const struct shca_fault_row *row = shca_fault_rows; row->subject != NULL; row++) {
		const char *word = subject != NULL ? row->action : row->subject;

		if ((subject != NULL && strcmp(row->subject, subject) != 0) ||
			strcmp(word, last) == 0 || used >= size)
			continue;
		used += (size_t)snprintf(
			text + used, size - used, "%s%s", used == 0 ? "" : ", ", word);
		last = word;
	}
}

static int
take_row(struct parse *parse)
{
	const char *subject = take(parse), *action = take(parse);
	const struct shca_fault_row *row;
	bool is_subject = false;
	char list[LIST_MAX];

	for (row = shca_fault_rows; row->subject != NULL; row++) {
		if (strcmp(row->subject, subject) != 0)
			continue;
		is_subject = true;
		if (action == NULL || strcmp(row->action, action) != 0)
			continue;
		parse->fault->row = row;
		return 0;
	}
	list_rows(is_subject ? subject : NULL, list, sizeof(list));
	if (!is_subject)
		return shca_refuse(
			&parse->refusal, "'%s': a line begins with seed, %s", subject, list);
	return refuse_word(parse, action, "%s is followed by one of %s", subject, list);
}

static void
keep_text(const struct parse *parse)
{
	char *text = parse->fault->text;
	size_t used = 0;

	for (unsigned int i = 0; i < parse->nb && used < SHCA_PLAN_TEXT_MAX; i++)
		used += (size_t)snprintf(text + used, SHCA_PLAN_TEXT_MAX - used, "%s%s",
			i == 0 ? "" : " ", parse->word[i]);
}

static int
take_fault(struct parse *parse)
{
	const struct shca_fault_row *row;
	const char *word;
	int ret;

	*parse->fault =
		(struct shca_fault){ .line = parse->refusal.line, .device = SHCA_PLAN_EVERY };
	keep_text(parse);
	ret = take_row(parse);
	row = parse->fault->row;
	if (ret == 0 && (row->words & SHCA_FAULT_VERB) != 0)
		ret = take_verb(parse);
	if (ret == 0 && (row->words & SHCA_FAULT_SYNDROME) != 0)
		ret = take_syndrome(parse);
	while (ret == 0 && (word = take(parse)) != NULL)
		ret = take_clause(parse, word);
	if (ret != 0)
		return ret;
	if (parse->fault->when == SHCA_FAULT_UNSAID)
		return shca_refuse(&parse->refusal,
			"'%s' does not say when: at N, every N or from N %s, or P%% of them",
			parse->fault->text, row->counts);
	if ((row->words & ~parse->said & (SHCA_FAULT_BY | SHCA_FAULT_BY_TIME)) != 0)
		return shca_refuse(&parse->refusal, "'%s' does not say by how much: it is %s %s %s",
			parse->fault->text, row->subject, row->action, row->usage);
	return 0;
}

static int
split(struct parse *parse, char *line)
{
	char *rest = NULL;

	line[strcspn(line, "#")] = '\0';
	for (char *word = strtok_r(line, BLANKS, &rest); word != NULL;
		word = strtok_r(NULL, BLANKS, &rest)) {
		if (parse->nb == WORDS_MAX)
			return shca_refuse(
				&parse->refusal, "'%s': more than %d words", word, WORDS_MAX);
		for (const char *c = word; *c != '\0'; c++)
			if (!isprint((unsigned char)*c))
				return shca_refuse(
					&parse->refusal, "character 0x%02x", (unsigned char)*c);
		parse->word[parse->nb++] = word;
	}
	return 0;
}

static int
take_seed(struct parse *parse, struct shca_plan *plan)
{
	int ret;

	if (plan->has_seed)
		return shca_refuse(&parse->refusal, "'seed': said already");
	plan->has_seed = true;
	parse->at = 1;
	ret = take_number(parse, "seed", 0, UINT64_MAX, &plan->seed);
	if (ret == 0 && parse->at < parse->nb)
		ret = shca_refuse(&parse->refusal, "'%s': it is seed N", parse->word[parse->at]);
	return ret;
}

static int
take_line(struct parse *parse, struct shca_plan *plan)
{
	int ret;

	if (strcmp(parse->word[0], "seed") == 0)
		return take_seed(parse, plan);
	if (plan->nb == SHCA_PLAN_MAX)
		return shca_refuse(&parse->refusal, "more than %d faults", SHCA_PLAN_MAX);
	parse->fault = &plan->fault[plan->nb];
	ret = take_fault(parse);
	if (ret == 0)
		plan->nb++;
	return ret;
}

int
shca_plan_parse(const char *text, unsigned int nb_devices, struct shca_plan *plan, char *error,
	size_t error_size)
{
	char *copy = strdup(text), *rest = copy;
	unsigned int number = 0;
	int ret = 0;

	if (copy == NULL) {
		snprintf(error, error_size, "no memory");
		return -ENOMEM;
	}
	*plan = (struct shca_plan){ .seed = DEFAULT_SEED };
	for (char *line = strsep(&rest, "\n"); line != NULL && ret == 0;
		line = strsep(&rest, "\n")) {
		struct parse parse = {
			.nb_devices = nb_devices,
			.refusal = { .text = error, .size = error_size, .line = ++number },
		};

		ret = split(&parse, line);
		if (ret == 0 && parse.nb != 0)
			ret = take_line(&parse, plan);
	}
	free(copy);
	return ret;
}
