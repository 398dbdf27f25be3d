#include "job/inbox.h"

#include <assert.h>

struct str inbox_kind_name(enum inbox_kind kind)
{
    static const struct str names[INBOX_KINDS] = {
        [INBOX_SUBMIT] = STR_INIT("submit"), [INBOX_CANCEL] = STR_INIT("cancel"),
        [INBOX_WAIT] = STR_INIT("wait"),     [INBOX_UNWAIT] = STR_INIT("unwait"),
        [INBOX_OVER] = STR_INIT("over"),     [INBOX_ASK] = STR_INIT("ask"),
        [INBOX_GRANT] = STR_INIT("grant"),   [INBOX_FREE] = STR_INIT("free"),
        [INBOX_KEEP] = STR_INIT("keep"),
    };
    assert(kind > 0 && kind < INBOX_KINDS);
    return names[kind];
}

uint32_t inbox_home(struct str key)
{
    return (uint32_t)(str_hash(key) % ID_BUCKETS);
}
