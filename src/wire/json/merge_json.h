/* merge_json.h - what several servers say about the same things, as one answer.
 *
 * Each of them speaks for what it owns, in the same shape. Numbers are counts of theirs and are
 * added up, but for those that are the same everywhere or say how much at most (a table says
 * which). Objects in arrays are told apart by their names or ids: the same one is merged, others
 * stand beside each other. Of texts the first that says something counts; where one is worse news
 * than another, that. */
#pragma once
#include "wire/json/json.h"

/* Writes the members of the merged object. An answer that is a page of a list sorted by name (it
 * has next_cursor) is a page again: limit is what was asked for, 0 for the usual. */
void merge_json_members(struct json_writer *w, const struct json *docs, size_t count, size_t limit,
                        struct arena *arena);
/* Of what one of them says only its own numbers: for when somebody else knows better what was
 * decided. */
struct json merge_json_numbers(const struct json *doc, struct arena *arena);
