/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A sample as lines of text. */
#ifndef SOFTHCA_TOP_VIEW_H
#define SOFTHCA_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "top/sample.h"

/** What rows are sorted by. */
enum app_view_order {
	APP_VIEW_NUMBER, /**< as ctl has them: rules as frames meet them */
	APP_VIEW_RATE,
	APP_VIEW_TOTAL,
	APP_VIEW_LOST,
	APP_VIEW_PROCESS,
	APP_VIEW_ORDERS,
};

struct app_view {
	enum app_view_order order;
	unsigned int width, height;        /**< of the terminal; 0: no limit */
	bool is_live;                      /**< one rule is marked, and lines end for a terminal */
	char selected[APP_SAMPLE_KEY_MAX]; /**< the key of the marked rule */
};

/** @return the name of an order. */
const char *app_view_order_name(enum app_view_order order);
/** Sort the rows of all lists. */
void app_view_sort(const struct app_view *view, struct app_sample *sample);
/** Mark the rule @p by rows behind the one that is marked; 0: one that is there.
 * @return it, or NULL: there are none. */
const struct app_row *app_view_select(
	struct app_view *view, const struct app_sample *sample, int by);
/** Print the lists, each with its share of @p height lines. */
void app_view_print(const struct app_view *view, const struct app_sample *sample,
	unsigned int height, FILE *out);
/** Print a line, cut to the width, and its end. @param mark in reverse video */
void app_view_line(const struct app_view *view, const char *text, bool mark, FILE *out);

#endif /* SOFTHCA_TOP_VIEW_H */
