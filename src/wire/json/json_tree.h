/* json_tree.h - two documents beside each other: whether they say the same, and merged.
 *
 * The order of an object's members says nothing, and neither does how a value is written: 1.0 is 1,
 * "\u0041" is "A"; but a number with more digits than a double holds is only the same as its own
 * text. Of a JSON_SPAN there is only the text: it is the same when that is, and is taken over
 * whole. Both take time in proportion to the documents (keys are sorted). */
#pragma once
#include "wire/json/json.h"

/* Scratch memory comes from arena. */
bool json_same(const struct json *a, const struct json *b, struct arena *arena);

/* Writes what a merge patch (RFC 7386) makes of target: members of the patch replace those of the
 * target, an object within an object is merged in turn, and a null takes the member away. A NULL
 * target is nothing yet. */
void json_merge(struct json_writer *w, const struct json *target, const struct json *patch,
                struct arena *arena);
