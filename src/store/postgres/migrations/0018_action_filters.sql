-- What an operation acts upon is a text, the filter of a list (job/record/operation.h). Servers of the version
-- before go on with what they keep in columns, which is known by its kind (job/record/operation_old.c), and leave
-- the kinds alone that have a text.
ALTER TABLE belfry.operation_part ADD COLUMN which text NOT NULL DEFAULT '';
