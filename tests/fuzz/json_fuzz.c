/* Whatever the reader accepts is valid UTF-8, and reads the same after one rewriting. */
#include "fuzz.h"
#include "wire/json.h"

static void rewrite(struct json_writer *w, const struct json *v)
{
    switch (v->kind) {
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_free) struct arena arena = {0};
    CLEANUP(buf_free) struct buf first = BUF(64 << 20);
    CLEANUP(buf_free) struct buf second = BUF(64 << 20);
    struct str text = fuzz_text(data, size);
    if (!normalise(text, &arena, &first))
        return 0;
    assert(str_is_utf8(text));
    bool again = normalise(buf_str(&first), &arena, &second);
    assert(again && str_eq(buf_str(&first), buf_str(&second)));
    return 0;
}
