#include "server/metrics/scrape.h"
#include "base/mem.h"
#include "loop/thread.h"
#include "server/call/represent.h"
#include "server/call/route_table.h"
#include "server/metrics/exposition.h"
#include "server/metrics/readings.h"
#include "server/metrics/slot_watch.h"
#include "wire/zip/gzip.h"

#include <stdlib.h>

/* Far more than metrics_series_max lines take, with names of the greatest length. */
#define SCRAPE_BYTES_MAX ((size_t)512 << 20)

struct scraper {
    struct server *server;
    struct mailbox *box;
    struct thread *thread;
    struct slot_watch *audit; /* owned */
    struct thread_times times;
};

/* A scrape, in one of the formats; printed when the first one asks for it. */
struct scrape_page {
    struct buf text;
    struct buf packed; /* empty: nobody wanted it, or it would not be shorter */
    bool tried;
};

static void print_route(size_t number, struct buf *out)
{
    const struct route *route = number < route_count ? &route_table[number] : NULL;
    metric_label_print(out, "route", route == NULL ? STR("none") : route->path);
    buf_add_char(out, ',');
    metric_label_print(out, "method",
                       route == NULL ? STR("") : str_c(http_method_name(route->method)));
}

static void print_page(struct scraper *s, bool openmetrics, struct buf *out)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct metric_copy *copy = ARENA_NEW(&arena, struct metric_copy);
    const char *prefix = s->server->options->metrics_prefix;
    const struct exposition x = {
        .prefix = prefix[0] == '\0' ? STR("") : arena_printf(&arena, "%s_", prefix),
        .openmetrics = openmetrics,
    };
    metrics_copy(s->server->metrics, &arena, print_route, copy);
    readings_take(s->server, &s->times, &arena, copy);
    exposition_print(&x, copy, out);
}

static bool wants_openmetrics(struct request *r)
{
    struct str accept = http_request_header(r->http, STR("Accept"));
    static const struct str type = STR_INIT("application/openmetrics-text");
    for (; accept.len >= type.len; accept = str_from(accept, 1)) {
        if (str_eq_nocase(str_of(accept.ptr, type.len), type)) /* it is asked for by name */
            return http_request_accepts(r->http, type);
    }
    return false;
}

static const struct buf *represent(struct request *r, struct scrape_page *page)
{
    r->form.varies = true;
    r->form.is_made = true;
    if (!http_request_takes_coding(r->http, STR("gzip")))
        return &page->text;
    if (!page->tried && !gzip_pack(buf_str(&page->text), &page->packed))
        buf_free(&page->packed);
    page->tried = true;
    r->form.is_packed = page->packed.len > 0;
    return r->form.is_packed ? &page->packed : &page->text;
}

static void serve_one(struct scraper *s, struct request *r, struct scrape_page pages[2])
{
    bool openmetrics = wants_openmetrics(r);
    struct scrape_page *page = &pages[openmetrics];
    if (page->text.len == 0) {
        page->text = BUF(SCRAPE_BYTES_MAX);
        print_page(s, openmetrics, &page->text);
    }
    r->form.type = openmetrics ? OPENMETRICS_TYPE : TEXT_TYPE;
    r->body = BUF(SCRAPE_BYTES_MAX);
    buf_add(&r->body, buf_str(represent(r, page)));
    request_send_home(r);
}

/* Those that came meanwhile are answered alike. */
static void serve_all(struct scraper *s, struct list *calls)
{
    struct scrape_page pages[2] = {0};
    for (struct list_node *node; (node = list_pop_front(calls)) != NULL;) {
        struct mail *mail = CONTAINER_OF(node, struct mail, node);
        serve_one(s, CONTAINER_OF(mail, struct request, parcel.mail), pages);
    }
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        buf_free(&pages[i].text);
        buf_free(&pages[i].packed);
    }
}

static void serve(void *arg)
{
    struct scraper *s = arg;
    struct list calls;
    list_init(&calls);
    while (mailbox_wait(s->box, slot_watch_next_us(s->audit)) != RC_SHUTDOWN) {
        mailbox_take_all(s->box, &calls);
        serve_all(s, &calls);
        slot_watch_look(s->audit);
    }
}

enum rc scraper_start(struct server *server, struct scraper **ret_scraper, struct err *err)
{
    struct scraper *s = MEM_NEW(struct scraper);
    s->server = server;
    s->audit = slot_watch_new(server);
    s->box = mailbox_new(server->options->mailbox_max);
    enum rc rc = thread_start("metrics", serve, s, &s->thread, err);
    if (rc == RC_OK)
        *ret_scraper = s;
    else
        scraper_free(s);
    return rc;
}

enum rc scraper_send(struct scraper *s, struct request *r)
{
    return mailbox_send(s->box, &r->parcel.mail);
}

void scraper_stop(struct scraper *s)
{
    if (s == NULL)
        return;
    mailbox_close(s->box);
    thread_join(s->thread);
    s->thread = NULL;
}

void scraper_free(struct scraper *s)
{
    if (s == NULL)
        return;
    mailbox_free(s->box);
    slot_watch_free(s->audit);
    free(s);
}

/* ---- the call */

static void answer(struct request *r)
{
    request_answer_body(r, 200);
}

void api_metrics(struct request *r)
{
    if (request_no_params(r))
        request_to_scraper(r, answer);
}

bool metrics_are_open(const struct server_options *o)
{
    return o->metrics_open;
}
