/* browser.h - requests of a page, which come with a cookie in place of a key.
 *
 * A browser sends the cookie whoever made it ask, so more is wanted of such a request than the
 * cookie: a change says `X-Belfry: 1`, which no form can, and its Origin is ours (the Host of the
 * request, or the setting public_url). Over HTTP the cookie is named after the port, since cookies
 * do not know ports; behind a proxy that speaks TLS for us (public_url begins with https) it is
 * `__Host-belfry` and Secure.
 *
 * On the net thread. */
#pragma once
#include "server/call/request.h"

/* Takes the caller of r from its cookie: r->who and r->session. A cookie whose session is over is
 * taken away from the browser by the answer. */
void browser_find(struct request *r);
/* False: the request may come from another site's page; it is answered. */
bool browser_admits(struct request *r);

/* The answer gives the browser this cookie, … */
void browser_keep(struct request *r, const char *cookie);
/* … or takes away what it has. */
void browser_forget(struct request *r);

/* Of each answer by cookie: caches in between do not know that it is for this one alone, as they do
 * of an answer by Authorization. */
extern const struct http_header browser_no_store;

/* The address of our pages: public_url, else what the caller itself asked. */
struct str browser_address(struct request *r);

/* Whether the caller, by key or by cookie, is still one: its key is there, its session not over. */
bool browser_still_may(const struct request *r);
