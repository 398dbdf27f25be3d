/* alert_sender.h - tells the world: sends alerts to webhooks.
 *
 * A thread that reads the alerts which are pending and posts each to every address of
 * `alert_webhooks`, signed as the Standard Webhooks specification has it (webhook-id,
 * webhook-timestamp, webhook-signature, with the secret of webhook.key in the data directory). An
 * alert that was not taken is sent again, at growing intervals, for a day. An alert is marked as
 * sent by a turn; when the server dies before that, it is sent again with the same webhook-id. */
#pragma once
#include "server/call/context.h"

struct alert_sender;

/* *ret_sender is NULL when there is nobody to tell. */
enum rc alert_sender_start(struct server *server, struct alert_sender **ret_sender,
                           struct err *err);
/* Waits for the posts of one alert that are under way, some seconds each at most. NULL is fine. */
void alert_sender_stop(struct alert_sender *h);
