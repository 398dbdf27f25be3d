/* mailbox.h - how threads talk: many senders, one receiver, no shared things.
 *
 * A message moves: once it is accepted the sender's pointer is gone, and whatever hangs on it is
 * the receiver's. Messages are intrusive (a `struct mail` inside the real thing), so sending
 * allocates nothing. A mailbox is bounded; a full one says RC_BUSY, and the caller answers 503
 * instead of piling up work that nobody will do in time.
 *
 * The receiver is either a plain thread, which waits (`mailbox_wait`), or a libuv loop, which is
 * called (`mailbox_new_on_loop`). It takes everything there is at once, so under load it is woken
 * once per batch and not once per message: only the message that finds the box empty wakes. */
#pragma once
#include "base/err.h"
#include "base/list.h"

#include <stdint.h>
#include <uv.h>

struct mail {
    struct list_node node;
};

struct mailbox;

/* Called on the loop's thread when mail has come, once for all of it: it must take all. */
typedef void mailbox_on_mail(void *arg, struct mailbox *box);

#define MAILBOX_FOREVER INT64_MAX

struct mailbox *mailbox_new(size_t max);
/* The loop keeps running until the mailbox is freed: replies may still be on their way when every
 * socket is closed. */
struct mailbox *mailbox_new_on_loop(uv_loop_t *loop, size_t max, mailbox_on_mail *on_mail,
                                    void *arg);
/* Senders must have stopped, and the box must be empty. One on a loop is freed by the loop, which
 * must run once more. NULL is fine. */
void mailbox_free(struct mailbox *box);

/* From any thread. RC_BUSY when max messages wait, RC_SHUTDOWN when the box is closed; the mail is
 * taken only by RC_OK and otherwise still the sender's. */
enum rc mailbox_send(struct mailbox *box, struct mail *take_mail);
/* The same without the bound, for replies: each answers a message that was let in, so they are
 * bounded already, and losing one would leave a client waiting forever. */
enum rc mailbox_send_always(struct mailbox *box, struct mail *take_mail);

/* From now on nothing comes in; mail that is there can still be taken. Wakes the receiver. */
void mailbox_close(struct mailbox *box);

/* Moves everything behind the last of *into, in the order of arrival. Does not wait. */
void mailbox_take_all(struct mailbox *box, struct list *into);

/* Waits until there is mail (RC_OK), the deadline has passed (RC_TIMEOUT), or the box is closed
 * and empty (RC_SHUTDOWN). deadline_us is on clock_mono_us's clock, or MAILBOX_FOREVER. Only for
 * a box that is not on a loop. */
enum rc mailbox_wait(struct mailbox *box, int64_t deadline_us);

/* How many wait at this moment; for metrics. */
size_t mailbox_len(struct mailbox *box);
