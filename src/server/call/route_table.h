/* route_table.h - every call of the API, a row for each.
 *
 * A row says by what method and path a call is made, who may make it, which command it sends to the
 * turn and which function handles it. The facts of the command (job/command/command_facts.h: where
 * it is decided, whether it may be repeated, whether it takes a key) are true of the call, unless
 * its row says otherwise. */
#pragma once
#include "base/buf.h"
#include "job/command/command_facts.h"
#include "server/call/request.h"

struct route {
    enum http_method method;
    unsigned roles;  /* set of enum role; empty: no caller */
    struct str path; /* {} stands for one part: request.id, and for the second request.sub_id */
    enum command_kind command; /* 0: none; it is answered from the store, or from what each has */
    request_step *handle;
    bool (*is_open)(const struct server_options *o); /* no key is needed; NULL: as roles say */
    const char *type; /* of the answer, to be held against Accept; NULL: JSON */
    /* In place of what is true of the command; 0: the same. */
    enum command_place place;
    enum command_repeat repeat;
    enum command_subject subject; /* of the id in the path */
    /* Answers, with what each server has said; NULL: their numbers are added up. */
    void (*merge)(struct request *r, const struct json *docs, size_t count);
};

extern const struct route route_table[];
extern const size_t route_count;

/* The route of r's method (HEAD is served as GET) and path, with what its {} stand for in r; or
 * NULL, and ret_allow lists the methods that the path would take. */
const struct route *route_find(struct request *r, struct buf *ret_allow);

/* A path that no route has, and that a later version will have. */
bool route_is_promised(struct str path);

/* The facts of its command, and of the call. */
struct command_facts route_facts(const struct route *route);
/* The type that the client has to accept; NULL: any type. */
const char *route_type(const struct route *route);
/* The table as Markdown. */
void route_table_print(struct buf *out);
