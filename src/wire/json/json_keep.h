/* json_keep.h - of an object that was printed, the members that are wanted.
 *
 * For answers of which a caller wants a part: the printer stays the only one who knows the object,
 * and pays nothing when everything is wanted. */
#pragma once
#include "base/buf.h"

/* Of the object that begins at out->ptr[at] and ends the text, keeps the members with one of these
 * keys, in their order, by moving them to the front. Text that was cut off (`overflow`) is left
 * alone. */
void json_keep(struct buf *out, size_t at, const struct str *keys, size_t count);
