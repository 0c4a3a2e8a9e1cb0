/* SPDX-License-Identifier: BSD-3-Clause */
/** @file softhca top: cards, ports, processes, queues and rules, once a second. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "app.h"
#include "base/clock.h"
#include "card.h"
#include "ctl/ctl_socket.h"
#include "ctl_client.h"
#include "top/frame.h"
#include "top/sample.h"
#include "top/screen.h"
#include "top/view.h"

#define PERIOD_MS 1000
/** Lines of a live view that are not of the lists: the first, and the last. */
#define FRAME_LINES 2
#define TRACE_MAX   1000

struct top {
	const char *card; /**< NULL: all */
	bool once;
	struct app_sources sources;
	struct app_sample *sample;
	struct app_view view;
	char *trace;         /**< of the marked rule, or NULL: the lists are shown */
	unsigned int scroll; /**< lines of the trace above the terminal */
};

static struct app_sources *found; /* of the search */

static void
add_source(const char *name, const char *path)
{
	struct app_source *source = &found->source[found->nb];

	if (found->nb == APP_SAMPLE_CARDS_MAX || strlen(path) >= sizeof(source->path))
		return;
	snprintf(source->name, sizeof(source->name), "%s", name);
	strcpy(source->path, path);
	found->nb++;
}

static void
add_card(const char *name, const char *dir)
{
	char path[sizeof(found->source[0].path)];

	if (app_card_keeper(dir) > 0 &&
		snprintf(path, sizeof(path), "%s/" SHCA_CTL_SOCKET_FIRST, dir) < (int)sizeof(path))
		add_source(name, path);
}

/** A program without a card is named by its process: ".../ctl.1234.0". */
static void
add_program(const char *path, void *arg)
{
	const char *name = strrchr(path, '/');
	int pid = 0;
	char text[24];

	(void)arg;
	if (name != NULL && sscanf(name, "/" SHCA_CTL_SOCKET_FIRST ".%d.", &pid) == 1) {
		snprintf(text, sizeof(text), "%d", pid);
		add_source(text, path);
	}
}

/** Find the cards, and programs that have one of their own. @return 0 or a negative errno after a
 * message. */
static int
find_sources(struct top *top)
{
	char dir[sizeof(top->sources.source[0].path)];
	int ret;

	top->sources.nb = 0;
	found = &top->sources;
	if (top->card == NULL) {
		app_card_each(add_card);
		shca_ctl_socket_find(NULL, add_program, NULL);
		return 0;
	}
	ret = app_card_check_name(top->card);
	if (ret == 0)
		ret = app_card_find(top->card, dir, sizeof(dir) - sizeof("/ctl"));
	if (ret != 0)
		return ret;
	strcat(dir, "/" SHCA_CTL_SOCKET_FIRST);
	add_source(top->card, dir);
	return 0;
}

/** Take the next sample. @return 0 or a negative errno; @p why is a message, which the caller
 * frees. */
static int
take(struct top *top, char **why)
{
	struct app_sample *sample;

	sample = app_sample_take(&top->sources, top->sample, why);
	if (sample == NULL)
		return -ENOMEM;
	app_sample_free(top->sample);
	top->sample = sample;
	app_view_sort(&top->view, sample);
	return sample->sources.nb == 0 && top->card != NULL ? -ENODEV : 0;
}

static void
print_head(const struct top *top)
{
	char line[1024] = "softhca top: ", hour[16];
	const time_t now = time(NULL);
	size_t length = strlen(line);
	struct tm local;

	localtime_r(&now, &local);
	strftime(hour, sizeof(hour), "%T", &local);
	for (size_t i = 0; i < top->sample->sources.nb && length < sizeof(line); i++)
		length += (size_t)snprintf(line + length, sizeof(line) - length, "%s%s%s",
			i != 0 ? ", " : "", top->sample->sources.source[i].name,
			strcmp(top->sample->thread[i], "frozen") == 0 ? " (frozen)" : "");
	if (top->sample->sources.nb == 0)
		length += (size_t)snprintf(line + length, sizeof(line) - length, "no card is up");
	if (length < sizeof(line))
		snprintf(line + length, sizeof(line) - length, ", %s, sorted by %s", hour,
			app_view_order_name(top->view.order));
	app_view_line(&top->view, line, false, stdout);
}

/** Print the lines of a text that are on the terminal. */
static void
print_trace(struct top *top)
{
	unsigned int number = 0;

	for (const char *line = top->trace; *line != '\0'; number++) {
		const size_t length = strcspn(line, "\n");
		char text[TRACE_MAX];

		snprintf(text, sizeof(text), "%.*s", (int)length, line);
		if (number >= top->scroll && number - top->scroll + FRAME_LINES < top->view.height)
			app_view_line(&top->view, text, false, stdout);
		line += length + (line[length] == '\n');
	}
	if (top->scroll >= number)
		top->scroll = number != 0 ? number - 1 : 0;
}

static void
draw(struct top *top)
{
	app_screen_size(&top->view.width, &top->view.height);
	fputs("\033[H", stdout);
	if (top->view.height > 1)
		print_head(top);
	if (top->trace != NULL)
		print_trace(top);
	else if (top->view.height > FRAME_LINES)
		app_view_print(&top->view, top->sample, top->view.height - FRAME_LINES, stdout);
	/* The last line has no end: the terminal would scroll. */
	printf("\033[J\033[%u;1H%.*s\033[K", top->view.height, (int)top->view.width,
		top->trace != NULL
			? "q back  up/down scroll"
			: "q quit  n r t l p sort by number, rate, total, losses, process"
			  "  up/down choose a rule  enter its trace");
	fflush(stdout);
}

/** Ask what would become of a frame that the marked rule matches. */
static void
trace(struct top *top)
{
	const struct app_row *rule = app_view_select(&top->view, top->sample, 0);
	char line[TRACE_MAX], *text = NULL, *all = NULL;

	if (rule == NULL)
		return;
	if (app_frame_of_rule(rule, line, sizeof(line)) == 0)
		(void)app_ctl_client_once(top->sample->sources.source[rule->at].path, line, &text);
	if (asprintf(&all, "rule %zu: %s\n%s", rule->number, line, text != NULL ? text : "") < 0)
		all = NULL;
	free(text);
	free(top->trace);
	top->trace = all;
	top->scroll = 0;
}

/** A key while a trace is shown. @return true: go on. */
static bool
press_in_trace(struct top *top, int key)
{
	const unsigned int page =
		top->view.height > FRAME_LINES ? top->view.height - FRAME_LINES : 1;

	if (key == APP_SCREEN_DOWN || key == 'j')
		top->scroll++;
	else if (key == APP_SCREEN_PAGE_DOWN || key == ' ')
		top->scroll += page;
	else if (key == APP_SCREEN_UP || key == 'k')
		top->scroll -= top->scroll != 0;
	else if (key == APP_SCREEN_PAGE_UP)
		top->scroll -= top->scroll < page ? top->scroll : page;
	else if (key == 'q' || key == APP_SCREEN_ESCAPE || key == '\n' || key == '\r') {
		free(top->trace);
		top->trace = NULL;
	}
	return true;
}

static const struct {
	int key;
	enum app_view_order order;
} order_keys[] = {
	{ 'n', APP_VIEW_NUMBER },
	{ 'r', APP_VIEW_RATE },
	{ 't', APP_VIEW_TOTAL },
	{ 'l', APP_VIEW_LOST },
	{ 'p', APP_VIEW_PROCESS },
};

static const struct {
	int key, by;
} move_keys[] = {
	{ APP_SCREEN_UP, -1 },
	{ 'k', -1 },
	{ APP_SCREEN_DOWN, 1 },
	{ 'j', 1 },
	{ APP_SCREEN_PAGE_UP, -10 },
	{ APP_SCREEN_PAGE_DOWN, 10 },
};

/** @return false: the user has seen enough. */
static bool
press(struct top *top, int key)
{
	if (top->trace != NULL)
		return press_in_trace(top, key);
	for (unsigned int i = 0; i < sizeof(order_keys) / sizeof(order_keys[0]); i++)
		if (order_keys[i].key == key) {
			top->view.order = order_keys[i].order;
			app_view_sort(&top->view, top->sample);
		}
	for (unsigned int i = 0; i < sizeof(move_keys) / sizeof(move_keys[0]); i++)
		if (move_keys[i].key == key)
			app_view_select(&top->view, top->sample, move_keys[i].by);
	if (key == '\n' || key == '\r')
		trace(top);
	return key != 'q';
}

/** Draw at each key, until it is time for the next sample. @return false: the user has seen enough.
 */
static bool
show(struct top *top)
{
	const int64_t end = shca_clock_ms() + PERIOD_MS;
	bool goes_on = true;
	int64_t left;
	int key;

	draw(top);
	while (goes_on && (left = end - shca_clock_ms()) > 0) {
		key = app_screen_key((int)left);
		goes_on = key != APP_SCREEN_GONE && press(top, key);
		if (goes_on && key != APP_SCREEN_NONE)
			draw(top);
	}
	return goes_on;
}

static int
show_live(struct top *top, char **why)
{
	bool goes_on = true;
	int ret = 0;

	if (app_screen_open() != 0) {
		fprintf(stderr, "softhca top: there is no terminal that can show it: say --once\n");
		return APP_FAILED;
	}
	top->view.is_live = true;
	while (goes_on && ret == 0) {
		goes_on = show(top);
		if (goes_on && top->card == NULL)
			(void)find_sources(top);
		if (goes_on) {
			free(*why);
			ret = take(top, why);
		}
	}
	app_screen_close();
	return ret;
}

static int
show_once(struct top *top, char **why)
{
	const struct timespec period = { .tv_sec = PERIOD_MS / 1000 };
	int ret;

	nanosleep(&period, NULL);
	free(*why);
	ret = take(top, why);
	if (ret != 0)
		return ret;
	print_head(top);
	app_view_print(&top->view, top->sample, UINT32_MAX, stdout);
	return fflush(stdout) == 0 ? 0 : -errno;
}

static int
parse(int argc, char *argv[], struct top *top)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--once") == 0) {
			top->once = true;
		} else if (argv[i][0] == '-' || top->card != NULL) {
			fprintf(stderr,
				"softhca top: it takes --once and the name of one card: what is '%s'?\n",
				argv[i]);
			return -EINVAL;
		} else {
			top->card = argv[i];
		}
	}
	return 0;
}

int
app_top(int argc, char *argv[])
{
	static struct top top;
	char *why = NULL;
	int ret;

	if (parse(argc, argv, &top) != 0 || find_sources(&top) != 0)
		return APP_FAILED;
	ret = take(&top, &why);
	if (ret == 0)
		ret = top.once ? show_once(&top, &why) : show_live(&top, &why);
	if (ret < 0)
		fprintf(stderr, "softhca top: %s\n", why != NULL ? why : strerror(-ret));
	free(why);
	free(top.trace);
	app_sample_free(top.sample);
	return ret == 0 ? 0 : APP_FAILED;
}
