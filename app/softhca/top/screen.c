/* SPDX-License-Identifier: BSD-3-Clause */
#include "top/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/** ECMA-48, and xterm's private modes 1049 (the other screen) and 25 (the cursor). */
static const char enter_text[] = "\033[?1049h\033[?25l";
static const char leave_text[] = "\033[m\033[?25h\033[?1049l";

static struct termios before;
static volatile sig_atomic_t is_open, was_resized;

static void
enter(void)
{
	struct termios raw = before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	is_open = 1;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	(void)!write(STDOUT_FILENO, enter_text, sizeof(enter_text) - 1);
}

/** Also called by signal handlers. */
static void
leave(void)
{
	if (!is_open)
		return;
	is_open = 0;
	(void)!write(STDOUT_FILENO, leave_text, sizeof(leave_text) - 1);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

static void
end_by(int signal_number)
{
	leave();
	/* The handler is gone (SA_RESETHAND). */
	raise(signal_number);
}

static void
stop(int signal_number)
{
	const int error = errno;

	(void)signal_number;
	leave();
	raise(SIGSTOP);
	enter();
	was_resized = 1;
	errno = error;
}

/** Somebody else has stopped the process: a shell had the terminal meanwhile. */
static void
go_on(int signal_number)
{
	const int error = errno;

	(void)signal_number;
	if (is_open)
		enter();
	was_resized = 1;
	errno = error;
}

static void
resize(int signal_number)
{
	(void)signal_number;
	was_resized = 1;
}

static void
handle(int signal_number, void (*handler)(int signal_number), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigemptyset(&action.sa_mask);
	sigaction(signal_number, &action, NULL);
}

int
app_screen_open(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGSEGV, SIGBUS,
		SIGABRT, SIGUSR1, SIGUSR2, SIGALRM };
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || term == NULL ||
		strcmp(term, "dumb") == 0 || tcgetattr(STDIN_FILENO, &before) != 0)
		return -ENOTTY;
	for (unsigned int i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		handle(ends[i], end_by, (int)SA_RESETHAND);
	handle(SIGTSTP, stop, SA_RESTART);
	handle(SIGCONT, go_on, SA_RESTART);
	handle(SIGWINCH, resize, SA_RESTART);
	atexit(leave);
	enter();
	return 0;
}

void
app_screen_close(void)
{
	leave();
}

void
app_screen_size(unsigned int *width, unsigned int *height)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
		size = (struct winsize){ .ws_col = 80, .ws_row = 24 };
	*width = size.ws_col;
	*height = size.ws_row;
}

static const struct {
	const char *bytes;
	int key;
} sequences[] = {
	{ "\033[A", APP_SCREEN_UP },
	{ "\033OA", APP_SCREEN_UP },
	{ "\033[B", APP_SCREEN_DOWN },
	{ "\033OB", APP_SCREEN_DOWN },
	{ "\033[5~", APP_SCREEN_PAGE_UP },
	{ "\033[6~", APP_SCREEN_PAGE_DOWN },
	{ "\033", APP_SCREEN_ESCAPE },
};

static char keys[64]; /* read and not yet given away */
static size_t nb_keys;

static int
take_key(void)
{
	int key = keys[0];
	size_t length = 1;

	for (unsigned int i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
		const size_t is_long = strlen(sequences[i].bytes);

		if (is_long > nb_keys || memcmp(keys, sequences[i].bytes, is_long) != 0)
			continue;
		key = sequences[i].key;
		length = is_long;
		break;
	}
	nb_keys -= length;
	memmove(keys, keys + length, nb_keys);
	return key;
}

/** Wait for input, with signals let in nowhere else: none is lost before the wait. */
static int
wait_for_input(int ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000L };
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	sigset_t winch, old;
	int ret = 0;

	sigemptyset(&winch);
	sigaddset(&winch, SIGWINCH);
	sigprocmask(SIG_BLOCK, &winch, &old);
	if (!was_resized)
		ret = ppoll(&input, 1, &time, &old);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return ret;
}

int
app_screen_key(int ms)
{
	ssize_t got;
	int ret;

	if (nb_keys != 0)
		return take_key();
	ret = wait_for_input(ms);
	if (was_resized) {
		was_resized = 0;
		return APP_SCREEN_RESIZED;
	}
	if (ret <= 0)
		return ret == 0 || errno == EINTR ? APP_SCREEN_NONE : APP_SCREEN_GONE;
	got = read(STDIN_FILENO, keys, sizeof(keys));
	if (got <= 0)
		return got < 0 && errno == EINTR ? APP_SCREEN_NONE : APP_SCREEN_GONE;
	nb_keys = (size_t)got;
	return take_key();
}
