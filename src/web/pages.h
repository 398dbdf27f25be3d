/* pages.h - answers a browser: the page, its scripts and its styles.
 *
 * Every page of the dashboard is the same document, whatever its address: its script reads the
 * address and asks the API. Nothing here knows jobs, keys or the server. */
#pragma once
#include "wire/http/http.h"

/* Answers a request that no call of the API knows, if it is about the dashboard: a file below
 * /assets/, any other address outside /api/ for clients that ask for text/html by name (404 with
 * the document when no page begins so: it says that there is none), and a line of help at / for all
 * others. False: it is not, and nothing was answered. */
bool web_answer(struct http_request *req);
