#include "wire/client/client_url.h"
#include "wire/http/http_text.h"

/* Splits "[::1]:80" and "name:80"; without a port *ret_port is empty. */
static bool split_authority(struct str authority, struct str *ret_host, struct str *ret_port)
{
    struct str rest = authority;
    if (str_starts(authority, STR("["))) {
        if (str_index(authority, ']') == authority.len)
            return false;
        rest = str_from(authority, 1);
        *ret_host = str_cut(&rest, ']');
        *ret_port = str_from(rest, 1);
        return rest.len == 0 || rest.ptr[0] == ':';
    }
    *ret_host = str_cut(&rest, ':');
    *ret_port = rest;
    return true;
}

static bool is_port(struct str text)
{
    uint64_t port;
    return str_to_u64(text, &port) && port >= 1 && port <= UINT16_MAX;
}

/* The text for messages, which are logged: before an @ there may be a password. */
static struct str without_user(struct arena *arena, struct str text)
{
    size_t at = text.len;
    while (at > 0 && text.ptr[at - 1] != '@')
        at--;
    return at == 0 ? text : arena_printf(arena, "…@%.*s", STR_ARG(str_from(text, at)));
}

enum rc client_url_parse(struct arena *arena, struct str text, struct client_url *ret_url,
                         struct err *err)
{
    if (str_starts(text, STR("https://")))
        return err_set(err, RC_UNSUPPORTED, "%.*s: https is not supported; use http",
                       STR_ARG(without_user(arena, text)));
    while (text.len > 0 && text.ptr[text.len - 1] == '/')
        text.len--;
    struct str rest = str_from(text, sizeof "http://" - 1);
    struct str prefix = str_from(rest, str_index(rest, '/'));
    struct str authority = str_of(rest.ptr, rest.len - prefix.len);
    struct str host = {0};
    struct str port = {0};
    bool good = str_starts(text, STR("http://")) && split_authority(authority, &host, &port) &&
                host.len > 0 && http_host_is_sound(authority) && (port.len == 0 || is_port(port)) &&
                (prefix.len == 0 || http_target_is_sound(prefix, false)) &&
                str_index(prefix, '?') == prefix.len;
    if (!good)
        return err_set(err, RC_INVALID, "%.*s is no server's URL; one looks like %s",
                       STR_ARG(without_user(arena, text)), "http://127.0.0.1:7420");
    *ret_url = (struct client_url){
        .text = arena_zstr(arena, text),
        .host = arena_zstr(arena, host),
        .port = port.len > 0 ? arena_zstr(arena, port) : "80",
        .authority = arena_str(arena, authority),
        .prefix = arena_str(arena, prefix),
    };
    return RC_OK;
}
