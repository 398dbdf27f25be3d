#include "wire/json/merge_json.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>

enum { LIMIT_USUAL = 50 };

/* The values of one member, of those documents that have it. */
struct values {
    const struct json **items;
    size_t len;
};

static const char *const identities[] = {"execution_id", "name",         "target",
                                         "worker_id",    "operation_id", "queue"};

/* Numbers that are not parts of a sum. */
static const char *const largest[] = {"uptime_ms", "oldest_age_ms", "concurrency", "slots"};

/* Numbers that somebody decided. */
static const char *const decided[] = {"concurrency"};

/* Texts of which one outweighs the other, and those that grow. */
static const char *const weightier[] = {"open",     "half_open", "closed", "draining",
                                        "cordoned", "active",    "away"};
static const char *const oldest[] = {"as_of"};
static const char *const newest[] = {"seen_at", "time", "changed_at", "paused_at", "lease_until"};

static bool is_among(struct str text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(text, str_c(words[i])))
            return true;
    }
    return false;
}

static size_t weight(struct str text)
{
    size_t i = 0;
    while (i < COUNT_OF(weightier) && !str_eq(text, str_c(weightier[i])))
        i++;
    return i;
}

/* ---- single values */

static const struct json *first_said(struct values v)
{
    for (size_t i = 0; i < v.len; i++) {
        if (v.items[i]->kind != JSON_NULL)
            return v.items[i];
    }
    return v.items[0];
}

static int64_t sum(struct values v)
{
    int64_t sum = 0;
    for (size_t i = 0; i < v.len; i++)
        sum += v.items[i]->kind == JSON_INT ? v.items[i]->integer : 0;
    return sum;
}

static int64_t greatest(struct values v)
{
    int64_t greatest = 0;
    for (size_t i = 0; i < v.len; i++) {
        if (v.items[i]->kind == JSON_INT && v.items[i]->integer > greatest)
            greatest = v.items[i]->integer;
    }
    return greatest;
}

static void put_sum(struct json_writer *w, struct values v, bool max)
{
    json_int(w, max ? greatest(v) : sum(v));
}

static void put_number(struct json_writer *w, struct str key, struct values v)
{
    put_sum(w, v, is_among(key, largest, COUNT_OF(largest)));
}

static void put_text(struct json_writer *w, struct str key, struct values v)
{
    struct str best = first_said(v)->string;
    for (size_t i = 0; i < v.len; i++) {
        if (v.items[i]->kind != JSON_STRING)
            continue;
        struct str text = v.items[i]->string;
        bool newer = is_among(key, newest, COUNT_OF(newest)) && str_cmp(text, best) > 0;
        bool older = is_among(key, oldest, COUNT_OF(oldest)) && str_cmp(text, best) < 0;
        if (newer || older || weight(text) < weight(best))
            best = text;
    }
    json_str(w, best);
}

static void put_bool(struct json_writer *w, struct values v)
{
    bool any = false;
    for (size_t i = 0; i < v.len; i++)
        any = any || (v.items[i]->kind == JSON_BOOL && v.items[i]->boolean);
    json_bool(w, any);
}

/* ---- arrays */

static struct str identity(const struct json *item)
{
    for (size_t i = 0; i < COUNT_OF(identities); i++) {
        const struct json *id = json_get(item, str_c(identities[i]));
        if (id != NULL && id->kind == JSON_STRING)
            return id->string;
    }
    return (struct str){0};
}

/* All that is said about one thing. */
struct entry {
    struct str id;
    VEC(const struct json *) said;
};

struct entries {
    struct entry **items;
    size_t len;
    size_t cap;
};

static void collect(struct values v, struct entries *ret_entries, struct arena *arena)
{
    struct strmap by_id = {0};
    for (size_t i = 0; i < v.len; i++) {
        for (size_t k = 0; v.items[i]->kind == JSON_ARRAY && k < v.items[i]->count; k++) {
            const struct json *item = &v.items[i]->items[k];
            struct str id = identity(item);
            struct entry *entry = id.ptr == NULL ? NULL : strmap_get(&by_id, id);
            if (entry == NULL) {
                entry = ARENA_NEW(arena, struct entry);
                entry->id = id;
                *VEC_PUSH(arena, ret_entries) = entry;
                if (id.ptr != NULL)
                    strmap_put(&by_id, id, entry);
            }
            *VEC_PUSH(arena, &entry->said) = item;
        }
    }
    strmap_free(&by_id);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp((*(struct entry *const *)a)->id, (*(struct entry *const *)b)->id);
}

static void put_value(struct json_writer *w, struct str key, struct values v, struct arena *arena);

static void put_entries(struct json_writer *w, const struct entries *entries, size_t count,
                        struct arena *arena)
{
    json_open_array(w);
    for (size_t i = 0; i < count; i++) {
        const struct entry *entry = entries->items[i];
        put_value(w, STR(""), (struct values){entry->said.items, entry->said.len}, arena);
    }
    json_close_array(w);
}

static bool holds_things(struct values v)
{
    for (size_t i = 0; i < v.len; i++) {
        if (v.items[i]->kind == JSON_ARRAY && v.items[i]->count > 0)
            return v.items[i]->items[0].kind == JSON_OBJECT;
    }
    return false;
}

static void put_array(struct json_writer *w, struct values v, struct arena *arena)
{
    struct entries entries = {0};
    if (!holds_things(v)) {
        json_raw(w, first_said(v)->raw);
        return;
    }
    collect(v, &entries, arena);
    put_entries(w, &entries, entries.len, arena);
}

/* ---- objects */

static struct values values_of(const struct json *const *objects, size_t count, struct str key,
                               struct arena *arena)
{
    struct values v = {.items = ARENA_ARRAY(arena, const struct json *, count)};
    for (size_t i = 0; i < count; i++) {
        const struct json *value = json_get(objects[i], key);
        if (value != NULL)
            v.items[v.len++] = value;
    }
    return v;
}

/* The slots of a worker that nobody fills: each of them knows how many it fills itself. */
static bool put_free(struct json_writer *w, const struct json *const *objects, size_t count,
                     struct arena *arena)
{
    struct values slots = values_of(objects, count, STR("slots"), arena);
    struct values busy = values_of(objects, count, STR("busy"), arena);
    int64_t left = greatest(slots) - sum(busy);
    if (slots.len == 0)
        return false;
    json_int(w, left > 0 ? left : 0);
    return true;
}

/* Each key once, in the order in which it is met first. */
static void each_member(struct json_writer *w, const struct json *const *objects, size_t count,
                        void (*put)(struct json_writer *, struct str, struct values,
                                    struct arena *),
                        struct arena *arena)
{
    struct strmap done = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; objects[i]->kind == JSON_OBJECT && k < objects[i]->count; k++) {
            struct str key = objects[i]->members[k].key;
            if (strmap_get(&done, key) != NULL)
                continue;
            strmap_put(&done, key, arena);
            json_key_str(w, key);
            if (!str_eq(key, STR("free")) || !put_free(w, objects, count, arena))
                put(w, key, values_of(objects, count, key, arena), arena);
        }
    }
    strmap_free(&done);
}

/* A worker is known to every server that it polls. */
static void put_of_workers(struct json_writer *w, struct str key, struct values v,
                           struct arena *arena)
{
    if (str_eq(key, STR("count")))
        put_sum(w, v, true);
    else
        put_value(w, key, v, arena);
}

static void put_value(struct json_writer *w, struct str key, struct values v, struct arena *arena)
{
    bool workers = str_eq(key, STR("workers"));
    switch (first_said(v)->kind) {
    case JSON_INT: put_number(w, key, v); break;
    case JSON_STRING: put_text(w, key, v); break;
    case JSON_BOOL: put_bool(w, v); break;
    case JSON_ARRAY: put_array(w, v, arena); break;
    case JSON_OBJECT:
        json_open(w);
        each_member(w, v.items, v.len, workers ? put_of_workers : put_value, arena);
        json_close(w);
        break;
    case JSON_NULL:
    case JSON_SPAN:
    case JSON_DOUBLE: json_raw(w, first_said(v)->raw); break;
    }
}

/* ---- pages */

static const struct json_member *list_of(const struct json *doc)
{
    for (size_t i = 0; i < doc->count; i++) {
        if (doc->members[i].value.kind == JSON_ARRAY)
            return &doc->members[i];
    }
    return NULL;
}

static bool has_more(const struct json *const *objects, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct json *next = json_get(objects[i], STR("next_cursor"));
        if (next != NULL && next->kind == JSON_STRING)
            return true;
    }
    return false;
}

static bool is_total(const struct json *doc, struct str list)
{
    const struct json *total = json_get(doc, STR("total"));
    const struct json *page = json_get(doc, list);
    return total != NULL && total->kind == JSON_INT && page != NULL && page->kind == JSON_ARRAY &&
           total->integer == (int64_t)page->count;
}

/* Items of a server that showed all it has are known by name, and counted once beside others that
 * have them, too. Of the rest only the least is known: the largest total, or all that was seen. */
static void put_total(struct json_writer *w, const struct json *const *objects, size_t count,
                      struct str list, size_t seen, struct arena *arena)
{
    struct values totals = values_of(objects, count, STR("total"), arena);
    bool exact = true;
    for (size_t i = 0; i < count; i++)
        exact = exact && is_total(objects[i], list);
    int64_t least = greatest(totals);
    json_put_int(w, "total", exact || least < (int64_t)seen ? (int64_t)seen : least);
    json_put_bool(w, "total_is_estimate", !exact);
}

/* A name that is among the first of all is among the first of whoever has it, so pages of the same
 * size from everybody make one that is complete. */
static void put_page(struct json_writer *w, const struct json *const *objects, size_t count,
                     struct str list, size_t limit, struct arena *arena)
{
    struct entries entries = {0};
    collect(values_of(objects, count, list, arena), &entries, arena);
    if (entries.len > 0)
        qsort(entries.items, entries.len, sizeof entries.items[0], by_name);
    size_t shown = entries.len < limit ? entries.len : limit;
    bool more = shown < entries.len || has_more(objects, count);
    json_key_str(w, list);
    put_entries(w, &entries, shown, arena);
    json_put_text(w, "next_cursor", more && shown > 0 ? entries.items[shown - 1]->id : STR(""));
    if (json_get(objects[0], STR("total")) != NULL)
        put_total(w, objects, count, list, entries.len, arena);
}

void merge_json_members(struct json_writer *w, const struct json *docs, size_t count, size_t limit,
                        struct arena *arena)
{
    const struct json **objects = ARENA_ARRAY(arena, const struct json *, count);
    for (size_t i = 0; i < count; i++)
        objects[i] = &docs[i];
    const struct json_member *list = count == 0 ? NULL : list_of(objects[0]);
    if (list != NULL && json_get(objects[0], STR("next_cursor")) != NULL)
        put_page(w, objects, count, list->key, limit > 0 ? limit : LIMIT_USUAL, arena);
    else
        each_member(w, objects, count, put_value, arena);
}

struct json merge_json_numbers(const struct json *doc, struct arena *arena)
{
    struct json_member *kept = ARENA_ARRAY(arena, struct json_member, doc->count);
    struct json numbers = {.kind = JSON_OBJECT, .members = kept};
    for (uint32_t i = 0; i < doc->count; i++) {
        const struct json_member *member = &doc->members[i];
        if (member->value.kind == JSON_INT && !is_among(member->key, decided, COUNT_OF(decided)))
            kept[numbers.count++] = *member;
    }
    return numbers;
}
