/* webhooks.h - the addresses of `alert_webhooks`, a list with commas. */
#pragma once
#include "base/err.h"

enum { WEBHOOKS_MAX = 8 };

/* RC_INVALID when one of the addresses is none, or when there are too many. An empty text has no
 * address, and is fine. */
enum rc webhooks_check(const char *urls, struct err *err);
/* Fills ret_urls with up to WEBHOOKS_MAX addresses, each a part of urls that ends in a NUL from now
 * on; urls is not empty and lives as long as they do. Fails as webhooks_check does. */
enum rc webhooks_split(char *urls, const char **ret_urls, unsigned *ret_count, struct err *err);
