/* scrape.h - the thread that answers `GET /metrics`.
 *
 * It needs neither the turn nor the store, so it answers while these stand still; and a scrape
 * costs milliseconds, which no connection shall wait for. All that is asked for while it prints is
 * printed once, the next time: two hundred scrapers cost little more than one. A scraper that
 * reads slowly has its answer in memory as any client has, within the limits of connections. */
#pragma once
#include "server/call/request.h"

struct scraper;

enum rc scraper_start(struct server *server, struct scraper **ret_scraper, struct err *err);
/* Prints into r->body and sends r home. RC_BUSY, RC_SHUTDOWN: not taken. */
enum rc scraper_send(struct scraper *s, struct request *r);
/* Scrapes that wait are still answered. NULL is fine, for both. */
void scraper_stop(struct scraper *s);
void scraper_free(struct scraper *s); /* when nobody can send any more */

/* The call. */
request_step api_metrics;
/* Whether it needs no key. */
struct server_options;
bool metrics_are_open(const struct server_options *o);
