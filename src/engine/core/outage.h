/* outage.h - turns while the store takes nothing. */
#pragma once
#include "job/poll.h"

struct engine;
struct worker;

/* Renews leases whose results cannot be taken now: their worker is there. */
void outage_renew(struct engine *e, const struct worker *w, const struct poll *poll);
