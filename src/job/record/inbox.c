#include "job/record/inbox.h"

#include <assert.h>

struct str inbox_kind_name(enum inbox_kind kind)
{
    static const struct str names[INBOX_KINDS] = {
        [INBOX_SUBMIT] = STR_INIT("submit"),   [INBOX_CANCEL] = STR_INIT("cancel"),
        [INBOX_WAIT] = STR_INIT("wait"),       [INBOX_UNWAIT] = STR_INIT("unwait"),
        [INBOX_OVER] = STR_INIT("over"),       [INBOX_ASK] = STR_INIT("ask"),
        [INBOX_GRANT] = STR_INIT("grant"),     [INBOX_FREE] = STR_INIT("free"),
        [INBOX_KEEP] = STR_INIT("keep"),       [INBOX_FORGET] = STR_INIT("forget"),
        [INBOX_OPERATE] = STR_INIT("operate"), [INBOX_STOP] = STR_INIT("stop"),
    };
    assert(kind > 0 && kind < INBOX_KINDS);
    return names[kind];
}

bool inbox_page_takes(struct inbox_page *page, const struct inbox_rec *rec)
{
    size_t bytes = rec->name.len + rec->actor.len + rec->body.len;
    if (page->rows >= page->rows_max || (page->rows > 0 && bytes > page->bytes_max - page->bytes))
        return false;
    page->rows++;
    page->bytes = bytes < page->bytes_max - page->bytes ? page->bytes + bytes : page->bytes_max;
    return true;
}

uint32_t inbox_home(struct str key)
{
    return (uint32_t)(str_hash(key) % ID_BUCKETS);
}
