#include "bridge/post.h"

#include "base/mem.h"

#include <curl/curl.h>
#include <stdlib.h>

enum rc post_init(struct err *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return err_set(err, RC_IO, "libcurl does not start");
    return RC_OK;
}

/* What finds no room is passed over. */
static size_t keep(char *bytes, size_t size, size_t count, void *arg)
{
    struct buf *body = arg;
    if (body != NULL)
        buf_add(body, str_of(bytes, size * count));
    return size * count;
}

/* Called about once a second while nothing happens; anything but 0 ends the transfer. */
static int look_for_stop(void *arg, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
                         curl_off_t up)
{
    const atomic_bool *stop = arg;
    (void)down_all;
    (void)down;
    (void)up_all;
    (void)up;
    return atomic_load(stop) ? 1 : 0;
}

static void slist_free(struct curl_slist **list)
{
    curl_slist_free_all(*list);
}

static void easy_free(CURL **curl)
{
    curl_easy_cleanup(*curl);
}

static void set_up(CURL *curl, const struct post *post, struct curl_slist *headers,
                   struct buf *body)
{
    curl_easy_setopt(curl, CURLOPT_URL, post->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)post->timeout_ms);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "belfry/" BELFRY_VERSION);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body.len);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, post->body.ptr);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    if (post->stop == NULL)
        return;
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_for_stop);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, post->stop);
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L); /* nor wait for a name that does not resolve */
}

static enum rc perform(CURL *curl, const struct post *post, struct buf *body, struct err *err)
{
    /* Without it libcurl asks before it sends a large body, and waits a second for servers that do
     * not know the question. */
    CLEANUP(slist_free) struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    for (const char *const *header = post->headers; *header != NULL; header++)
        headers = curl_slist_append(headers, *header);
    set_up(curl, post, headers, body);
    CURLcode rc = curl_easy_perform(curl);
    return rc == CURLE_OK ? RC_OK : err_set(err, RC_IO, "%s", curl_easy_strerror(rc));
}

enum rc post_send(const struct post *post, long *ret_status, struct err *err)
{
    CLEANUP(easy_free) CURL *curl = curl_easy_init();
    TRY(perform(curl, post, NULL, err));
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, ret_status);
    return RC_OK;
}

/* ---- one after the other */

struct post_line {
    CURL *curl;
};

struct post_line *post_line_new(void)
{
    struct post_line *line = MEM_NEW(struct post_line);
    line->curl = curl_easy_init();
    return line;
}

void post_line_free(struct post_line *line)
{
    if (line == NULL)
        return;
    curl_easy_cleanup(line->curl);
    free(line);
}

enum rc post_line_send(struct post_line *line, const struct post *post, struct post_answer *answer,
                       struct err *err)
{
    curl_off_t retry_after_s = 0;
    curl_easy_reset(line->curl); /* keeps its connections */
    buf_clear(&answer->body);
    answer->body.overflow = false;
    answer->status = 0;
    answer->retry_after_ms = 0;
    TRY(perform(line->curl, post, &answer->body, err));
    curl_easy_getinfo(line->curl, CURLINFO_RESPONSE_CODE, &answer->status);
    if (curl_easy_getinfo(line->curl, CURLINFO_RETRY_AFTER, &retry_after_s) == CURLE_OK &&
        retry_after_s > 0 && retry_after_s < INT64_MAX / 1000)
        answer->retry_after_ms = retry_after_s * 1000;
    return RC_OK;
}

bool post_url_check(const char *url)
{
    struct str text = str_c(url);
    bool schemed = str_starts(text, STR("http://")) || str_starts(text, STR("https://"));
    CURLU *parts = curl_url();
    bool good = schemed && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK;
    curl_url_cleanup(parts);
    return good;
}
