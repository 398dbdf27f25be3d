/* cells.h - how much room a text takes on a terminal.
 *
 * A terminal shows most characters in one cell, those of East Asian scripts and emoji in two, and
 * combining marks in none. Terminals do not agree about all of Unicode, so this is right for what
 * people call things, and whoever must be sure that nothing runs over turns wrapping off. */
#pragma once
#include "base/arena.h"
#include "base/str.h"

/* The length of the character that text begins with, and its cells. A byte that begins none is one
 * of one cell. */
size_t cells_next(struct str text, size_t *ret_width);
size_t cells_width(struct str text);
/* The longest part from the start that takes at most `width` cells. */
struct str cells_cut(struct str text, size_t width);
/* Text of users, harmless on a screen: control characters are blanks, bytes that are no UTF-8
 * become a question mark, and what takes no cell is left out. At most `bytes_max` of it. */
struct str cells_clean(struct str text, size_t bytes_max, struct arena *arena);
