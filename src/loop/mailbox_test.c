#include "base/mem.h"

#include "base/test/test.h"
#include "loop/clock.h"
#include "loop/mailbox.h"
#include "loop/thread.h"

#include <sched.h>
#include <stdlib.h>

struct note {
    struct mail mail;
    int sender;
    int number;
};

static struct note *note_new(int sender, int number)
{
    struct note *n = MEM_NEW(struct note);
    n->sender = sender;
    n->number = number;
    return n;
}

static enum rc send_note(struct mailbox *box, int sender, int number)
{
    struct note *n = note_new(sender, number);
    enum rc rc = mailbox_send(box, &n->mail);
    if (rc != RC_OK)
        free(n); /* still ours */
    return rc;
}

static struct note *pop_note(struct list *notes)
{
    struct list_node *node = list_pop_front(notes);
    return node == NULL ? NULL
                        : CONTAINER_OF(CONTAINER_OF(node, struct mail, node), struct note, mail);
}

static size_t drop_all(struct mailbox *box)
{
    struct list notes;
    list_init(&notes);
    mailbox_take_all(box, &notes);
    size_t count = 0;
    for (struct note *n; (n = pop_note(&notes)) != NULL; count++)
        free(n);
    return count;
}

/* ---- one thread */

TEST(mail_arrives_in_order)
{
    struct mailbox *box = mailbox_new(10);
    for (int i = 0; i < 3; i++)
        assert_int_equal(send_note(box, 0, i), RC_OK);
    struct list notes;
    list_init(&notes);
    mailbox_take_all(box, &notes);
    for (int i = 0; i < 3; i++) {
        struct note *n = pop_note(&notes);
        assert_int_equal(n->number, i);
        free(n);
    }
    assert_true(list_empty(&notes));
    mailbox_free(box);
}

TEST(a_full_mailbox_is_busy_until_it_is_emptied)
{
    struct mailbox *box = mailbox_new(2);
    assert_int_equal(send_note(box, 0, 0), RC_OK);
    assert_int_equal(send_note(box, 0, 1), RC_OK);
    assert_int_equal(send_note(box, 0, 2), RC_BUSY);
    assert_int_equal(mailbox_len(box), 2);
    assert_int_equal(drop_all(box), 2);
    assert_int_equal(send_note(box, 0, 3), RC_OK);
    assert_int_equal(drop_all(box), 1);
    mailbox_free(box);
}

TEST(replies_get_into_a_full_mailbox)
{
    struct mailbox *box = mailbox_new(1);
    assert_int_equal(send_note(box, 0, 0), RC_OK);
    assert_int_equal(mailbox_send_always(box, &note_new(0, 1)->mail), RC_OK);
    assert_int_equal(drop_all(box), 2);
    mailbox_free(box);
}

TEST(a_closed_mailbox_takes_nothing_but_gives_what_it_has)
{
    struct mailbox *box = mailbox_new(2);
    assert_int_equal(send_note(box, 0, 0), RC_OK);
    mailbox_close(box);
    assert_int_equal(send_note(box, 0, 1), RC_SHUTDOWN);
    struct note *reply = note_new(0, 2);
    assert_int_equal(mailbox_send_always(box, &reply->mail), RC_SHUTDOWN);
    free(reply);
    assert_int_equal(mailbox_wait(box, MAILBOX_FOREVER), RC_OK);
    assert_int_equal(drop_all(box), 1);
    assert_int_equal(mailbox_wait(box, MAILBOX_FOREVER), RC_SHUTDOWN);
    mailbox_free(box);
}

TEST(waiting_ends_at_the_deadline)
{
    struct mailbox *box = mailbox_new(1);
    int64_t deadline_us = clock_mono_us() + 5000;
    assert_int_equal(mailbox_wait(box, deadline_us), RC_TIMEOUT);
    assert_true(clock_mono_us() >= deadline_us);
    assert_int_equal(mailbox_wait(box, 0), RC_TIMEOUT);
    mailbox_free(box);
}

/* ---- many threads */

enum { SENDERS = 4, NOTES = 5000 };

struct sender {
    struct mailbox *box;
    int id;
    struct thread *thread;
};

/* Sends its notes in order, however often the box is full. */
static void send_many(void *arg)
{
    struct sender *s = arg;
    for (int i = 0; i < NOTES; i++) {
        while (send_note(s->box, s->id, i) == RC_BUSY)
            sched_yield();
    }
}

static void start_senders(struct sender *senders, struct mailbox *box)
{
    for (int i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){.box = box, .id = i};
        assert_int_equal(thread_start("sender", send_many, &senders[i], &senders[i].thread, NULL),
                         RC_OK);
    }
}

static void join_senders(struct sender *senders)
{
    for (int i = 0; i < SENDERS; i++)
        thread_join(senders[i].thread);
}

/* What the receiver has seen. */
struct tally {
    int next[SENDERS]; /* the number that must come next */
    size_t count;
    size_t wakes;
    bool in_order;
};

static void count_notes(struct tally *t, struct mailbox *box)
{
    struct list notes;
    list_init(&notes);
    mailbox_take_all(box, &notes);
    for (struct note *n; (n = pop_note(&notes)) != NULL; t->count++) {
        t->in_order = t->in_order && n->number == t->next[n->sender];
        t->next[n->sender] = n->number + 1;
        free(n);
    }
}

TEST(a_waiting_thread_gets_everything_in_each_senders_order)
{
    struct mailbox *box = mailbox_new(100);
    struct sender senders[SENDERS];
    struct tally tally = {.in_order = true};
    start_senders(senders, box);
    while (tally.count < SENDERS * NOTES) {
        assert_int_equal(mailbox_wait(box, MAILBOX_FOREVER), RC_OK);
        count_notes(&tally, box);
    }
    join_senders(senders);
    assert_true(tally.in_order);
    assert_int_equal(mailbox_len(box), 0);
    mailbox_free(box);
}

static void close_later(void *arg)
{
    mailbox_close(arg);
}

TEST(closing_wakes_who_waits)
{
    struct mailbox *box = mailbox_new(1);
    struct thread *closer;
    assert_int_equal(thread_start("closer", close_later, box, &closer, NULL), RC_OK);
    assert_int_equal(mailbox_wait(box, MAILBOX_FOREVER), RC_SHUTDOWN);
    thread_join(closer);
    mailbox_free(box);
}

/* ---- on a loop */

static void on_mail(void *arg, struct mailbox *box)
{
    struct tally *t = arg;
    t->wakes++;
    count_notes(t, box);
}

TEST(a_loop_is_called_for_everything_in_each_senders_order)
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    struct tally tally = {.in_order = true};
    struct mailbox *box = mailbox_new_on_loop(&loop, 100, on_mail, &tally);
    struct sender senders[SENDERS];
    start_senders(senders, box);
    while (tally.count < SENDERS * NOTES)
        uv_run(&loop, UV_RUN_ONCE);
    join_senders(senders);
    assert_true(tally.in_order);
    mailbox_free(box);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

TEST(a_loop_is_woken_once_for_a_batch)
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    struct tally tally = {.in_order = true};
    struct mailbox *box = mailbox_new_on_loop(&loop, 100, on_mail, &tally);
    for (int i = 0; i < 50; i++)
        assert_int_equal(send_note(box, 0, i), RC_OK);
    uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(tally.count, 50);
    assert_int_equal(tally.wakes, 1);
    mailbox_free(box);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

/* The receiver frees the box once its mail has come. */
static void take_and_free(void *arg, struct mailbox *box)
{
    on_mail(arg, box);
    mailbox_free(box);
}

TEST(a_loop_runs_until_its_mailbox_is_freed)
{
    uv_loop_t loop;
    uv_loop_init(&loop);
    struct tally tally = {.in_order = true};
    struct mailbox *box = mailbox_new_on_loop(&loop, 1, take_and_free, &tally);
    assert_int_equal(send_note(box, 0, 0), RC_OK);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(tally.count, 1);
    assert_int_equal(uv_loop_close(&loop), 0);
}
