/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The terminal as a live view needs it: its other screen, no cursor, keys as they come. It is as it
 * was after any end of the process but SIGKILL, and while the process is stopped.
 */
#ifndef SOFTHCA_TOP_SCREEN_H
#define SOFTHCA_TOP_SCREEN_H

#include <stdbool.h>

/** Keys that are no characters. */
enum app_screen_key {
	APP_SCREEN_NONE = 0,
	APP_SCREEN_UP = 0x100,
	APP_SCREEN_DOWN,
	APP_SCREEN_PAGE_UP,
	APP_SCREEN_PAGE_DOWN,
	APP_SCREEN_ESCAPE,
	APP_SCREEN_RESIZED,
	APP_SCREEN_GONE, /**< there is no terminal any more */
};

/** @return 0 or a negative errno: -ENOTTY: there is no terminal that can do so. */
int app_screen_open(void);
void app_screen_close(void);
/** @param[out] width, height at least 1 */
void app_screen_size(unsigned int *width, unsigned int *height);
/** Wait for a key. @return it, or APP_SCREEN_NONE after @p ms. */
int app_screen_key(int ms);

#endif /* SOFTHCA_TOP_SCREEN_H */
