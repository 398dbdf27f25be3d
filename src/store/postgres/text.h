/* text.h - any bytes as text that PostgreSQL takes, and back.
 *
 * PostgreSQL refuses text with a zero byte or with bytes that are no UTF-8; our promise is that
 * text is kept byte for byte, and workers may send anything. So such a byte is kept as a character
 * of its own, U+10FF00 + byte, from the end of the private area, where nobody meets one by chance
 * (and one that comes is taken apart into its four bytes). All other text is as it was, readable
 * with psql. */
#pragma once
#include "base/arena.h"

/* s itself, when there is nothing to do; else a copy in arena. */
struct str pg_text_encode(struct arena *arena, struct str s);
/* The other way round; the same holds. */
struct str pg_text_decode(struct arena *arena, struct str s);
/* Whether there is something to decode. */
bool pg_text_is_coded(struct str s);
