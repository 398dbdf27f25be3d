#include "wire/json/json_tree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The members of an object, by their keys. */
struct index {
    const struct json_member **members;
    size_t count;
};

static int by_key(const void *a, const void *b)
{
    const struct json_member *const *left = a;
    const struct json_member *const *right = b;
    return str_cmp((*left)->key, (*right)->key);
}

static struct index index_of(const struct json *object, struct arena *arena)
{
    struct index index = {0};
    if (object == NULL || object->kind != JSON_OBJECT || object->count == 0)
        return index;
    index.count = object->count;
    index.members = ARENA_ARRAY(arena, const struct json_member *, object->count);
    for (size_t i = 0; i < object->count; i++)
        index.members[i] = &object->members[i];
    qsort(index.members, index.count, sizeof index.members[0], by_key);
    return index;
}

static const struct json *find(const struct index *index, struct str key)
{
    size_t low = 0;
    size_t high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_cmp(index->members[middle]->key, key);
        if (order == 0)
            return &index->members[middle]->value;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- the same */

static bool same_members(const struct json *a, const struct json *b, struct arena *arena)
{
    struct index left = index_of(a, arena);
    struct index right = index_of(b, arena);
    for (size_t i = 0; i < left.count; i++) {
        if (!str_eq(left.members[i]->key, right.members[i]->key) ||
            !json_same(&left.members[i]->value, &right.members[i]->value, arena))
            return false;
    }
    return true;
}

static bool same_items(const struct json *a, const struct json *b, struct arena *arena)
{
    for (size_t i = 0; i < a->count; i++) {
        if (!json_same(&a->items[i], &b->items[i], arena))
            return false;
    }
    return true;
}

static bool is_number(const struct json *value)
{
    return value->kind == JSON_INT || value->kind == JSON_DOUBLE;
}

static double number_of(const struct json *value)
{
    return value->kind == JSON_INT ? (double)value->integer : value->number;
}

/* Whether a double tells this number from all others of as few digits. */
static bool is_exact(const struct json *value)
{
    size_t digits = 0;
    for (size_t i = 0; i < value->raw.len && (value->raw.ptr[i] | 0x20) != 'e'; i++) {
        char c = value->raw.ptr[i];
        digits += (c >= '1' && c <= '9') || (c == '0' && digits > 0);
    }
    return digits == 0 || (digits <= DBL_DIG && fabs(number_of(value)) >= DBL_MIN);
}

/* Programs may read more of a number than we do: what differs only behind that is another one. */
static bool same_numbers(const struct json *a, const struct json *b)
{
    if (a->kind == JSON_INT && b->kind == JSON_INT)
        return a->integer == b->integer;
    return str_eq(a->raw, b->raw) || (number_of(a) == number_of(b) && is_exact(a) && is_exact(b));
}

bool json_same(const struct json *a, const struct json *b, struct arena *arena)
{
    if (is_number(a) && is_number(b))
        return same_numbers(a, b);
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case JSON_NULL: return true;
    case JSON_BOOL: return a->boolean == b->boolean;
    case JSON_INT:
    case JSON_DOUBLE: break; /* see above */
    case JSON_STRING: return str_eq(a->string, b->string);
    case JSON_ARRAY: return a->count == b->count && same_items(a, b, arena);
    case JSON_OBJECT: return a->count == b->count && same_members(a, b, arena);
    case JSON_SPAN: return str_eq(a->raw, b->raw);
    }
    abort(); /* a kind that does not exist: our own mistake */
}

/* ---- merged */

void json_merge(struct json_writer *w, const struct json *target, const struct json *patch,
                struct arena *arena)
{
    if (patch->kind != JSON_OBJECT) {
        json_raw(w, patch->raw);
        return;
    }
    bool is_object = target != NULL && target->kind == JSON_OBJECT;
    struct index changes = index_of(patch, arena);
    struct index known = index_of(target, arena);
    json_open(w);
    for (size_t i = 0; is_object && i < target->count; i++) {
        const struct json_member *member = &target->members[i];
        const struct json *change = find(&changes, member->key);
        if (change != NULL && change->kind == JSON_NULL)
            continue;
        json_key_str(w, member->key);
        if (change == NULL)
            json_raw(w, member->value.raw);
        else
            json_merge(w, &member->value, change, arena);
    }
    for (size_t i = 0; i < patch->count; i++) {
        const struct json_member *member = &patch->members[i];
        if (member->value.kind == JSON_NULL || find(&known, member->key) != NULL)
            continue;
        json_key_str(w, member->key);
        json_merge(w, NULL, &member->value, arena);
    }
    json_close(w);
}
