#include "server/system/merged.h"
#include "server/call/route_table.h"
#include "server/cluster/membership.h"

struct str merged_own_name(struct request *r)
{
    struct cluster_view view;
    struct node_rec me;
    if (r->server->membership == NULL)
        return STR("this server");
    membership_look(r->server->membership, r->arena, &view, &me);
    return me.name;
}

void merged_answer_part(struct request *r)
{
    struct json doc;
    struct err err;
    if (r->by_server || r->gathering != NULL) {
        request_answer_body(r, 200);
        return;
    }
    struct str text = arena_str(r->arena, buf_str(&r->body));
    if (json_parse(text, r->arena, &doc, &err) == RC_OK)
        r->route->merge(r, &doc, 1);
    else
        request_fail(r, err.rc, err.text);
}

struct str merged_text(const struct json *object, struct str key)
{
    const struct json *value = json_get(object, key);
    return value != NULL && value->kind == JSON_STRING ? value->string : (struct str){0};
}

struct str merged_name(const struct json *doc)
{
    return merged_text(doc, STR("server"));
}

const struct json *merged_part_of(const struct json *docs, size_t count, struct str server)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(merged_name(&docs[i]), server))
            return &docs[i];
    }
    return NULL;
}

const struct json *merged_items(const struct json *doc, struct str key, size_t *ret_count)
{
    const struct json *items = json_get(doc, key);
    bool is_array = items != NULL && items->kind == JSON_ARRAY;
    *ret_count = is_array ? items->count : 0;
    return is_array ? items->items : NULL;
}

void merged_put_missing(struct json_writer *w, struct request *r, const struct json *docs,
                        size_t count)
{
    struct peer *peers;
    struct membership *m = r->server->membership;
    size_t peer_count = m == NULL ? 0 : membership_peers(m, r->arena, &peers);
    bool any = false;
    for (size_t i = 0; i < peer_count; i++) {
        if (merged_part_of(docs, count, peers[i].name) != NULL)
            continue;
        if (!any) {
            json_key(w, "missing");
            json_open_array(w);
        }
        any = true;
        json_str(w, peers[i].name);
    }
    if (any)
        json_close_array(w);
}
