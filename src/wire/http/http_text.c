#include "wire/http/http_text.h"
#include "wire/http/http.h"

#include <string.h>

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool http_is_token_char(char c)
{
    return is_alnum(c) || is_one_of(c, "!#$%&'*+-.^_`|~");
}

bool http_is_header_text(struct str value)
{
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

bool http_target_is_sound(struct str target, bool star)
{
    if (star && str_eq(target, STR("*")))
        return true;
    if (target.len == 0 || target.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < target.len; i++) {
        unsigned char c = (unsigned char)target.ptr[i];
        if (c <= ' ' || c >= 0x7f || c == '#')
            return false;
    }
    return true;
}

bool http_host_is_sound(struct str host)
{
    for (size_t i = 0; i < host.len; i++) {
        if (!is_alnum(host.ptr[i]) && !is_one_of(host.ptr[i], ".-_:[]~%"))
            return false;
    }
    return true;
}

const char *http_status_phrase(int status)
{
    switch (status) {
    case 100: return "Continue";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 428: return "Precondition Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    case 507: return "Insufficient Storage";
    default: return status < 400 ? "OK" : "Error";
    }
}

struct str http_date(char *ret_text, time_t at)
{
    struct tm utc;
    gmtime_r(&at, &utc);
    /* The names are English because nobody here calls setlocale. */
    size_t len = strftime(ret_text, HTTP_DATE_MAX, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    return str_of(ret_text, len);
}

/* ---- what a handler asks of its request */

const char *http_method_name(enum http_method method)
{
    static const char *const names[] = {
        [HTTP_METHOD_GET] = "GET",         [HTTP_METHOD_HEAD] = "HEAD",
        [HTTP_METHOD_POST] = "POST",       [HTTP_METHOD_PUT] = "PUT",
        [HTTP_METHOD_PATCH] = "PATCH",     [HTTP_METHOD_DELETE] = "DELETE",
        [HTTP_METHOD_OPTIONS] = "OPTIONS",
    };
    return names[method];
}

struct str http_request_header(const struct http_request *req, struct str name)
{
    for (size_t i = 0; i < req->header_count; i++) {
        if (str_eq_nocase(req->headers[i].name, name))
            return req->headers[i].value;
    }
    return (struct str){0};
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The byte behind a '%', or 0 for a bad escape: a NUL ends texts in every C library that one is
 * handed to later, so it is never a good one. */
static char unescape(struct str digits)
{
    if (digits.len < 2)
        return '\0';
    int high = hex_digit(digits.ptr[0]);
    int low = hex_digit(digits.ptr[1]);
    return high < 0 || low < 0 ? '\0' : (char)(high * 16 + low);
}

bool http_decode(struct arena *arena, struct str text, bool plus_is_space, struct str *ret_text)
{
    char *out = arena_bytes(arena, text.len); /* decoding only shrinks */
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            c = unescape(str_from(text, i + 1));
            if (c == '\0')
                return false;
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        out[len++] = c;
    }
    *ret_text = str_of(out, len);
    return true;
}

bool http_request_param(struct http_request *req, struct str name, struct str *ret_value)
{
    struct str rest = req->query;
    while (rest.len > 0) {
        struct str value = str_cut(&rest, '&');
        struct str key = str_cut(&value, '=');
        struct str decoded;
        if (http_decode(&req->arena, key, true, &decoded) && str_eq(decoded, name))
            return http_decode(&req->arena, value, true, ret_value);
    }
    return false;
}
