/* http_quota.h - what the connections of a process may have together.
 *
 * Every loop that listens counts in the same quota: how many connections there are, how many
 * strangers come from one address, and how many bytes they hold in memory. The limits themselves
 * are the server's (http.h). From any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct http_quota;

struct http_quota *http_quota_new(void);
void http_quota_free(struct http_quota *q); /* no connection is in it any more; NULL is fine */

/* Where a connection comes from, as far as it counts: the address without the port, of IPv6 the
 * first 64 bits, since whoever has one of these has all of them. 16 bytes; all zero for what is
 * neither. */
struct http_origin {
    unsigned char bytes[16];
};

struct http_origin http_origin_of(const struct sockaddr *address);

struct http_counts {
    size_t all;
    size_t of_origin; /* strangers: behind one address there may be many who have a key */
};

/* Counts a connection in, a stranger's at first, and says how many there are with it. */
struct http_counts http_quota_enter(struct http_quota *q, struct http_origin origin);
/* It is no stranger's any more. */
void http_quota_vouch(struct http_quota *q, struct http_origin origin);
void http_quota_leave(struct http_quota *q, struct http_origin origin, bool vouched);
size_t http_quota_connections(struct http_quota *q);

/* Strangers have a share of their own: what they hold keeps nobody else's requests out. */
enum http_share { HTTP_SHARE_FRIENDS, HTTP_SHARE_STRANGERS, HTTP_SHARES };

/* A connection holds `now` bytes where it held `before`. False: that would be more than max of this
 * share together; then nothing has changed. Less is always granted. */
bool http_quota_hold(struct http_quota *q, enum http_share share, size_t before, size_t now,
                     size_t max);
