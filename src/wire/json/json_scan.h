/* json_scan.h - JSON that is only looked at: whether it is well formed, and where it ends.
 *
 * For what belfry carries but does not read: payloads and results. Nothing is built and nothing
 * recurses, so a value costs no memory but one bit per open bracket, however deep it is. Checked
 * are the grammar, UTF-8 and the escapes, as json_parse does; \u0000 and lone surrogates are
 * refused here, too. Not looked at: how large a number is, and whether a key stands twice. */
#pragma once
#include "base/err.h"
#include "wire/json/json_lex.h"

enum { JSON_ANY_DEPTH = 0 };

/* Moves x from the first byte of a value behind its last. At most depth_max brackets may be open at
 * a time, or JSON_ANY_DEPTH. */
bool json_scan(struct json_lex *x, uint32_t depth_max);

/* Whether text is one value and nothing else: RC_INVALID with "line 3, column 14: …" when not. */
enum rc json_check(struct str text, uint32_t depth_max, struct err *err);

/* "line 3, column 14: what": where in text the place at is. */
enum rc json_fail(struct str text, const char *at, enum rc rc, const char *what, struct str detail,
                  struct err *err);
/* The same of what a lexer found wrong; says so when the text only ends too early. */
enum rc json_lex_fail(struct str text, const struct json_lex *x, struct err *err);
