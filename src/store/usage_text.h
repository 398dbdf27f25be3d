/* usage_text.h - what an attempt used, as one small text: seven numbers with spaces between.
 *
 * Handlers know nothing about their use of the machine, and most attempts of a busy server are
 * theirs; so "nothing known" is no text at all, and the others share a column. */
#pragma once
#include "job/record/record.h"

enum { USAGE_TEXT_MAX = 7 * 21 + 1 };

/* Into ret_text, which holds USAGE_TEXT_MAX. Empty when there is nothing to say. */
struct str usage_print(const struct usage *usage, char *ret_text);
bool usage_parse(struct str text, struct usage *ret_usage);
