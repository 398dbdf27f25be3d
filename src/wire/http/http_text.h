/* http_text.h - what may stand in a message, and the fixed phrases of one. */
#pragma once
#include "base/str.h"

#include <time.h>

enum { HTTP_DATE_MAX = 32 };

/* A letter, digit or sign that may be part of a method or of a header's name. */
bool http_is_token_char(char c);
/* True for visible ASCII with spaces and tabs between, and for bytes above 127: what can be sent
 * as a header's value without becoming two headers. */
bool http_is_header_text(struct str value);
/* True for "/..." of visible ASCII without a fragment, and for "*" when star is allowed. The
 * absolute form ("http://host/") is for proxies, which this server is not. */
bool http_target_is_sound(struct str target, bool star);
/* A name or address, maybe with a port; empty is allowed, as the standard has it. */
bool http_host_is_sound(struct str host);

/* "Not Found"; a general word for numbers that nobody uses. */
const char *http_status_phrase(int status);
/* "Sun, 06 Nov 1994 08:49:37 GMT"; ret_text holds HTTP_DATE_MAX. */
struct str http_date(char *ret_text, time_t at);
