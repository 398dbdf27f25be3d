/* crontab_text.h - the pieces that a line of a crontab is made of. For `cli/crontab.c`. */
#pragma once
#include "base/arena.h"

/* The next word, cut off the front together with the blanks before it. */
struct str crontab_word(struct str *rest);
/* Without blanks in front. */
struct str crontab_left(struct str text);

/* True when the line sets a variable. Quotes around name or value are taken off, as cron does. */
bool crontab_variable(struct str line, struct str *ret_name, struct str *ret_value);

/* Takes a command apart at its first % that is not escaped, and resolves the others. */
void crontab_percent(struct str text, struct arena *arena, struct str *ret_command,
                     struct str *ret_input);

/* A name for a command: the file name of its program (not of a `cd` in front of it), of letters,
 * digits and _.- only. */
struct str crontab_program(struct str command, struct arena *arena);
