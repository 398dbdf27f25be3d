/* routes.h - the one table of what can be called, and by whom. */
#pragma once
#include "server/request.h"

/* Finds the route, checks the caller's role, and hands the request to its handler. */
void routes_serve(struct request *r);
