-- A breaker belongs to what jobs name, no longer to the program of a command.

-- What a lease is charged to when its job names another breaker since; NULL: what its job names, '': none. Loaded
-- with load_live alone; live_rec, which servers of the version before ask by place, does not have it.
ALTER TABLE belfry.live ADD COLUMN charged text;

-- What servers left alone by the name of a program: nobody can name these any more.
DELETE FROM belfry.breaker WHERE target LIKE 'command:%';
