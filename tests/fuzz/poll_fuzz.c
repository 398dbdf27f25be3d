/* All messages between worker and server: what is accepted prints and reads back to the same. */
#include "fuzz.h"
#include "wire/message/poll_json.h"

static struct arena arena;
static struct buf first = {.max = 64 << 20};
static struct buf second = {.max = 64 << 20};

static void assert_same(void)
{
    assert(!first.overflow && str_eq(buf_str(&first), buf_str(&second)));
    buf_clear(&first);
    buf_clear(&second);
}

static struct json reread(const struct buf *printed)
{
    struct json doc;
    enum rc rc = json_parse_by(&json_from_user, buf_str(printed), &arena, &doc, NULL);
    assert(rc == RC_OK);
    return doc;
}

static void try_poll(const struct json *doc)
{
    struct poll poll;
    struct field_errors errors = {0};
    if (poll_parse(doc, &arena, &poll, &errors))
        return;
    poll_print(&first, &poll);
    struct json again = reread(&first);
    enum rc rc = poll_parse(&again, &arena, &poll, &errors);
    assert(rc == RC_OK);
    poll_print(&second, &poll);
    assert_same();
}

static void try_hello(const struct json *doc)
{
    struct hello hello;
    struct field_errors errors = {0};
    if (hello_parse(doc, &arena, &hello, &errors))
        return;
    hello_print(&first, &hello);
    struct json again = reread(&first);
    enum rc rc = hello_parse(&again, &arena, &hello, &errors);
    assert(rc == RC_OK);
    hello_print(&second, &hello);
    assert_same();
}

static void try_reply(struct str text)
{
    struct poll_reply reply;
    struct err err;
    if (poll_reply_parse(text, &arena, &reply, &err))
        return;
    poll_reply_print(&first, &reply);
    enum rc rc = poll_reply_parse(buf_str(&first), &arena, &reply, &err);
    assert(rc == RC_OK);
    poll_reply_print(&second, &reply);
    assert_same();
}

static void try_welcome(struct str text)
{
    struct welcome welcome;
    struct err err;
    if (welcome_parse(text, &arena, &welcome, &err))
        return;
    welcome_print(&first, &welcome);
    enum rc rc = welcome_parse(buf_str(&first), &arena, &welcome, &err);
    assert(rc == RC_OK);
    welcome_print(&second, &welcome);
    assert_same();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = fuzz_text(data, size);
    struct json doc;
    if (json_parse_by(&json_from_user, text, &arena, &doc, NULL) == RC_OK) {
        try_poll(&doc);
        try_hello(&doc);
    }
    try_reply(text);
    try_welcome(text);
    arena_reset(&arena);
    return 0;
}
