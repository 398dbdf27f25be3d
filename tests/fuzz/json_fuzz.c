/* Whatever the reader accepts is valid UTF-8, and reads the same after one rewriting. The scanner accepts
 * all that the reader does, and the reader refuses of what the scanner accepts only what it says. */
#include "fuzz.h"
#include "wire/json/json.h"
#include "wire/json/json_scan.h"

#include <string.h>

static void rewrite(struct json_writer *w, const struct json *v)
{
    switch (v->kind) {
    case JSON_SPAN: json_raw(w, v->raw); break;
    case JSON_NULL: json_null(w); break;
    case JSON_BOOL: json_bool(w, v->boolean); break;
    case JSON_INT: json_int(w, v->integer); break;
    case JSON_DOUBLE: json_double(w, v->number); break;
    case JSON_STRING: json_str(w, v->string); break;
    case JSON_ARRAY:
        json_open_array(w);
        for (uint32_t i = 0; i < v->count; i++)
            rewrite(w, &v->items[i]);
        json_close_array(w);
        break;
    case JSON_OBJECT:
        json_open(w);
        for (uint32_t i = 0; i < v->count; i++) {
            assert(json_get(v, v->members[i].key) == &v->members[i].value); /* no key twice */
            json_key_str(w, v->members[i].key);
            rewrite(w, &v->members[i].value);
        }
        json_close(w);
        break;
    }
}

/* Parses, and prints what was understood. */
static bool normalise(struct str text, struct arena *arena, struct buf *out)
{
    struct json value;
    struct err err;
    if (json_parse(text, arena, &value, &err))
        return false;
    struct json_writer w = JSON_WRITER(out);
    rewrite(&w, &value);
    assert(!out->overflow && w.depth == 0);
    return true;
}

static bool is_only_strict(const struct err *err)
{
    return err->rc == RC_TOO_LARGE || strstr(err->text, "a key stands here twice") != NULL;
}

static void compare_scanner(struct str text, struct arena *arena)
{
    static const struct json_rules any_number = {.any_number = true};
    struct json value;
    struct err err = {0};
    bool scans = json_check(text, JSON_DEPTH_MAX, NULL) == RC_OK;
    bool reads = json_parse_by(&any_number, text, arena, &value, &err) == RC_OK;
    assert(reads ? scans : !scans || is_only_strict(&err));
    struct str wrapped = arena_printf(arena, "{\"payload\":%.*s}", STR_ARG(text));
    if (scans)
        assert(json_parse_by(&json_from_user, wrapped, arena, &value, NULL) == RC_OK &&
               value.count == 1 && str_eq(value.members[0].value.raw, str_trim(text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf first = BUF(64 << 20);
    CLEANUP(buf_free) struct buf second = BUF(64 << 20);
    struct str text = fuzz_text(data, size);
    compare_scanner(text, &arena);
    if (!normalise(text, &arena, &first))
        return 0;
    assert(str_is_utf8(text));
    bool again = normalise(buf_str(&first), &arena, &second);
    assert(again && str_eq(buf_str(&first), buf_str(&second)));
    return 0;
}
