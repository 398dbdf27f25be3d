-- A breaker belongs to what jobs name, no longer to the program of a command.

-- What a lease is charged to when its job names another breaker since; NULL: what its job names, '': none.
ALTER TABLE live ADD COLUMN charged TEXT;

-- Nobody can name these any more.
DELETE FROM breaker WHERE target LIKE 'command:%';

PRAGMA user_version = 25;
