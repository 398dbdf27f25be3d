/* tokens.h - the constants and records that SQL may name in braces: see statement.h. */
#pragma once
#include "base/id.h"
#include "job/dependency.h"
#include "job/record/alert.h"
#include "job/record/inbox.h"
#include "job/record/operation.h"
#include "job/record/ran.h"
#include "job/record/record.h"
#include "job/record/record_fields.h"
#include "job/spec.h"
#include "job/state.h"
