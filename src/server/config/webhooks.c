#include "server/config/webhooks.h"
#include "base/mem.h"
#include "bridge/post.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum rc webhooks_split(char *urls, const char **ret_urls, unsigned *ret_count, struct err *err)
{
    assert(urls[0] != '\0');
    *ret_count = 0;
    char *rest = urls;
    for (char *url; (url = strsep(&rest, ",")) != NULL;) {
        if (*ret_count == WEBHOOKS_MAX)
            return err_set(err, RC_INVALID, "at most %d webhooks", WEBHOOKS_MAX);
        if (!post_url_check(url))
            return err_set(err, RC_INVALID, "address %u is not an http or https address",
                           *ret_count + 1);
        ret_urls[(*ret_count)++] = url;
    }
    return RC_OK;
}

enum rc webhooks_check(const char *urls, struct err *err)
{
    if (urls[0] == '\0')
        return RC_OK;
    const char *parts[WEBHOOKS_MAX];
    unsigned count;
    char *copy = mem_dup(urls, strlen(urls) + 1);
    enum rc rc = webhooks_split(copy, parts, &count, err);
    free(copy);
    return rc;
}
