/* pages.h - the way of a browser past the API: what a server asks when no call has the path. */
#pragma once
#include <stdbool.h>

struct http_request;

/* Answers the request; false: it is not for browsers either, and was not answered. On a net
 * thread. */
typedef bool server_pages(struct http_request *req);
