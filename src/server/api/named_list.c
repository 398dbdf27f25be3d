#include "server/api/named_list.h"

enum { LIST_BYTES_MAX = 16 << 20 };

static void print_page(struct request *r, struct json_writer *w, struct str cursor)
{
    const struct named_list *list = *(const struct named_list **)r->own;
    size_t count = list->count(r);
    size_t at = 0;
    while (at < count && str_cmp(list->name(r, at), cursor) <= 0)
        at++;
    size_t end = count - at > r->list.page.limit ? at + r->list.page.limit : count;
    json_key(w, list->key);
    json_open_array(w);
    for (; at < end; at++)
        list->print(r, w, at);
    json_close_array(w);
    json_put_text(w, "next_cursor", end < count ? list->name(r, end - 1) : STR(""));
}

static void answer(struct request *r)
{
    const struct named_list *list = *(const struct named_list **)r->own;
    struct str cursor = STR("");
    (void)http_request_param(r->http, STR("cursor"), &cursor);
    r->body = BUF(LIST_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&r->body);
    json_open(&w);
    print_page(r, &w, cursor);
    if (r->list.want_total) {
        json_put_int(&w, "total", (int64_t)list->count(r));
        json_put_bool(&w, "total_is_estimate", false);
    }
    json_close(&w);
    request_answer(r, 200, buf_str(&r->body));
}

void named_list_answer(struct request *r, const struct named_list *list)
{
    static const char *const params[] = {"limit", "cursor", "count", NULL};
    struct field_errors errors = {0};
    struct field_errors of_name = {0};
    struct str cursor;
    if (!request_params_known(r, params))
        return;
    request_page(r, &errors);
    if (http_request_param(r->http, STR("cursor"), &cursor) &&
        list->check(cursor, r->arena, &of_name) != RC_OK)
        field_error(&errors, r->arena, STR("cursor"), "is not a next_cursor of this list");
    const struct named_list **keep = arena_alloc(r->arena, sizeof(*keep));
    *keep = list;
    r->own = keep;
    if (errors.count > 0)
        request_fail_fields(r, &errors);
    else
        request_to_turn(r, answer);
}
