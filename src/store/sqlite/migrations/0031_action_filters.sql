-- What an operation acts upon is a text, the filter of a list (job/record/operation.h). Rows that are there keep
-- theirs in columns, and are known by their kinds (job/record/operation_old.c); the others leave those columns empty.
ALTER TABLE operation_part ADD COLUMN which TEXT NOT NULL DEFAULT '';

PRAGMA user_version = 31;
