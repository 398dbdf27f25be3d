/* tokens.h - the constants that SQL may name in braces: {EXEC_QUEUED}. See statement.h. */
#pragma once
#include "base/id.h"
#include "job/dependency.h"
#include "job/record/alert.h"
#include "job/record/inbox.h"
#include "job/record/record.h"
#include "job/spec.h"
#include "job/state.h"
