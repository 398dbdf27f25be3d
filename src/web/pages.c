#include "web/pages.h"
#include "base/err.h"
#include "web/assets.h"
#include "wire/zip/gzip.h"

enum { ASSET_BYTES_MAX = 4 << 20 }; /* unpacked */

static const char HINT[] =
    "This is a belfry server. Its dashboard is at this address, for browsers; its calls are below\n"
    "/api/v1, and /openapi.json describes them. `belfry help` lists the commands.\n";
static const char NO_PAGES[] =
    "This is a belfry server, built without its dashboard (make WEB=no). Its calls are below\n"
    "/api/v1, and /openapi.json describes them. `belfry help` lists the commands.\n";

/* Files whose names have their content's hash in them never change. */
static const char FOR_EVER[] = "public, max-age=31536000, immutable";
static const char ASK_AGAIN[] = "no-cache";

/* No code or style but our files, nothing from elsewhere, and no page of somebody else around. */
static const char POLICY[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static const struct web_asset *asset_find(struct str path)
{
    for (size_t i = 0; i < web_asset_count; i++) {
        if (str_eq(web_assets[i].path, path))
            return &web_assets[i];
    }
    return NULL;
}

/* What the client takes of the file; *ret_coding is empty for the file as it is. False: it could
 * not be unpacked, which the build does not let happen. */
static bool pick_body(struct http_request *req, const struct web_asset *asset, struct buf *plain,
                      struct str *ret_body, struct str *ret_coding)
{
    struct err err;
    if (http_request_takes_coding(req, STR("br"))) {
        *ret_body = asset->brotli;
        *ret_coding = STR("br");
        return true;
    }
    if (http_request_takes_coding(req, STR("gzip"))) {
        *ret_body = asset->gzip;
        *ret_coding = STR("gzip");
        return true;
    }
    if (gzip_unpack(asset->gzip, plain, &err) != RC_OK)
        return false;
    *ret_body = buf_str(plain);
    *ret_coding = STR("");
    return true;
}

/* Whether the dashboard knows pages that begin so. Which things there are, it asks the API. */
static bool is_page(struct str path)
{
    if (str_starts(path, STR("//"))) /* in a script that reads it, the name of a host */
        return false;
    str_cut(&path, '/'); /* what is before the first slash: nothing */
    struct str part = str_cut(&path, '/');
    for (size_t i = 0; i < web_page_part_count; i++) {
        if (str_eq(web_page_parts[i], part))
            return true;
    }
    return false;
}

static bool answer_asset(struct http_request *req, const struct web_asset *asset, int status,
                         const char *cache)
{
    CLEANUP(buf_free) struct buf plain = BUF(ASSET_BYTES_MAX);
    struct str body;
    struct str coding;
    bool known = status == 200 && http_request_has_tag(req, asset->tag);
    if (!pick_body(req, asset, &plain, &body, &coding))
        return false;
    struct http_header headers[8] = {
        {STR("ETag"), asset->tag},
        {STR("Cache-Control"), str_c(cache)},
        {STR("Vary"), STR("Accept, Accept-Encoding")},
        {STR("Content-Security-Policy"), str_c(POLICY)},
        {STR("X-Content-Type-Options"), STR("nosniff")},
        {STR("Referrer-Policy"), STR("no-referrer")},
        {STR("Cross-Origin-Opener-Policy"), STR("same-origin")},
        {STR("Content-Encoding"), coding},
    };
    http_respond(req, &(struct http_answer){
                          .status = known ? 304 : status,
                          .content_type = known ? NULL : asset->type,
                          .body = known ? STR("") : body,
                          .headers = headers,
                          .header_count = COUNT_OF(headers) - (known || coding.len == 0),
                      });
    return true;
}

static bool answer_text(struct http_request *req, const char *text)
{
    http_respond(req, &(struct http_answer){
                          .status = 200,
                          .content_type = "text/plain; charset=utf-8",
                          .body = str_c(text),
                      });
    return true;
}

/* Browsers name the type; other clients say that they take anything, or say nothing. */
static bool asks_for_html(const struct http_request *req)
{
    struct str ranges = http_request_header(req, STR("Accept"));
    while (ranges.len > 0) {
        struct str range = str_cut(&ranges, ',');
        if (str_eq_nocase(str_trim(str_cut(&range, ';')), STR("text/html")))
            return http_request_accepts(req, STR("text/html"));
    }
    return false;
}

bool web_answer(struct http_request *req)
{
    static const struct str root = STR_INIT("/");
    if (req->method != HTTP_METHOD_GET && req->method != HTTP_METHOD_HEAD)
        return false;
    if (str_starts(req->path, STR("/api/")))
        return false;
    if (str_starts(req->path, STR("/assets/"))) {
        const struct web_asset *asset = asset_find(req->path);
        return asset != NULL && answer_asset(req, asset, 200, FOR_EVER);
    }
    const struct web_asset *page = asset_find(root);
    if (page != NULL && asks_for_html(req))
        return answer_asset(req, page, is_page(req->path) ? 200 : 404, ASK_AGAIN);
    return str_eq(req->path, root) && answer_text(req, page != NULL ? HINT : NO_PAGES);
}
