/* merged.h - answers of servers about themselves, side by side.
 *
 * Each part has its server's name under "server". A server that has nobody to ask puts its own part
 * through the same function, so that there is one form of the answer. */
#pragma once
#include "server/call/request.h"

/* This server's name in the cluster; one that is alone has none of its own. */
struct str merged_own_name(struct request *r);
/* Our part is printed in r->body: hands it to whoever puts the parts together. */
void merged_answer_part(struct request *r);
/* The name of the server that this part is of. */
struct str merged_name(const struct json *doc);
/* The part of that server; NULL: there is none. */
const struct json *merged_part_of(const struct json *docs, size_t count, struct str server);
/* The items of an array of a part; none where there is no such array. */
const struct json *merged_items(const struct json *doc, struct str key, size_t *ret_count);
/* The text of a member of something; empty where there is none. */
struct str merged_text(const struct json *object, struct str key);
/* Prints "missing": the servers that are there and gave no part; nothing when there are none. */
void merged_put_missing(struct json_writer *w, struct request *r, const struct json *docs,
                        size_t count);
