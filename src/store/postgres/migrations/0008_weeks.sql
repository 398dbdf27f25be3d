-- The past goes by whole weeks: see belfry.drop_week.

-- Weeks of which nothing is to stay, and how far the owner of each partition has come with forgetting what is
-- in them: up to this id jobs are gone, or know themselves how they ended, and rows wait for nothing but the
-- end of their week. A week that is here stays so: what is over never changes, nothing that could still end has
-- an id of that week, and nobody makes such ids any more.
CREATE TABLE belfry.old_week (
    week bigint NOT NULL, -- since 2020, of the ids
    partition integer NOT NULL,
    forgotten_id bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (week, partition)
);

-- What ended more than a day after it was made, which is seldom: all else that is in a week ended, at the
-- latest, a day after the week.
CREATE INDEX history_late ON belfry.history (finished_ms) WHERE finished_ms - created_ms > 86400000;

CREATE FUNCTION belfry.is_forgotten(exec_id bigint) RETURNS boolean LANGUAGE sql STABLE AS
$$SELECT EXISTS (SELECT 1 FROM belfry.old_week w
    WHERE w.week = (exec_id >> 22) / 604800000 AND exec_id <= w.forgotten_id
        AND w.partition = (((exec_id >> 12) & 1023) * (SELECT count(*) FROM belfry.partition)) >> 10)$$;

-- Makes the weeks ahead for what is cut by time. SECURITY DEFINER: a server needs no right to change the
-- schema. Waits for nobody: what is in use is tended another time. Tells how many tables it made.
CREATE OR REPLACE FUNCTION belfry.tend(weeks_ahead integer DEFAULT 4) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = belfry, pg_temp SET lock_timeout = '50ms' AS $$
DECLARE
    width constant bigint := 604800000;                           -- a week, in milliseconds
    week bigint := (belfry.now_ms() - 1577836800000) / width;     -- since 2020, as ids count
    parent text;
    child text;
    w bigint;
    done integer := 0;
BEGIN
    IF NOT pg_try_advisory_xact_lock(7163384699220918) THEN
        RETURN 0;                                                 -- somebody is at it
    END IF;
    UPDATE meta SET value = belfry.now_ms()::text WHERE key = 'tended_ms';
    FOREACH parent IN ARRAY ARRAY['history', 'attempt', 'chunk'] LOOP
        FOR w IN week .. week + weeks_ahead LOOP
            child := parent || '_w' || w;
            CONTINUE WHEN to_regclass('belfry.' || child) IS NOT NULL;
            BEGIN
                -- Attached, not made as a partition: that would lock out everybody.
                EXECUTE format('CREATE TABLE belfry.%I (LIKE belfry.%I INCLUDING ALL)', child, parent);
                EXECUTE format('ALTER TABLE belfry.%I ATTACH PARTITION belfry.%I FOR VALUES FROM (%s) TO (%s)',
                    parent, child, (w * width) << 22, ((w + 1) * width) << 22);
                done := done + 1;
            EXCEPTION WHEN lock_not_available OR check_violation THEN
                NULL;  -- busy; or the default partition has rows of that week, and goes on having them
            END;
        END LOOP;
    END LOOP;
    RETURN done;
END $$;

-- Drops one table of a week, and tells its name; NULL: there is none, or it is in use. One at a time, each in a
-- transaction of its own, since the lock keeps everybody from the whole of history until that ends: it is
-- waited for 50 ms at most, and then another time. PostgreSQL removes the files when nobody waits any more. Whoever
-- dies meanwhile has dropped nothing. (DETACH CONCURRENTLY is not for tables with a default partition.)
--
-- A week goes when it is old and all partitions' owners have forgotten what is in it, with however many rows;
-- attempts first, while history still tells that there is something to do. And when it is empty, as those of
-- output are (belfry.trim_chunks), and those that were emptied row by row.
CREATE FUNCTION belfry.drop_week() RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = belfry, pg_temp SET lock_timeout = '50ms' AS $$
DECLARE
    width constant bigint := 604800000;
    now_week bigint := (belfry.now_ms() - 1577836800000) / width;
    child record;
    has_rows boolean;
BEGIN
    IF NOT pg_try_advisory_xact_lock(7163384699220918) THEN
        RETURN NULL;
    END IF;
    DELETE FROM belfry.old_week WHERE to_regclass('belfry.history_w' || week) IS NULL;
    FOR child IN
        SELECT c.relname AS name, p.relname AS parent, n.week, o.is_done IS NOT NULL AS is_old, o.is_done
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
        CROSS JOIN LATERAL (SELECT substring(c.relname FROM '_w([0-9]+)$')::bigint AS week) n
        LEFT JOIN (SELECT week, min(forgotten_id) >= (((week + 1) * width) << 22) - 1 AS is_done
            FROM belfry.old_week GROUP BY week) o ON o.week = n.week AND p.relname <> 'chunk'
        WHERE p.relnamespace = 'belfry'::regnamespace AND p.relname IN ('history', 'attempt', 'chunk')
            AND n.week < now_week - 1
        ORDER BY n.week, p.relname
    LOOP
        CONTINUE WHEN child.is_old AND NOT child.is_done;
        IF NOT child.is_old THEN
            EXECUTE format('SELECT EXISTS (SELECT 1 FROM belfry.%I)', child.name) INTO has_rows;
            CONTINUE WHEN has_rows;
            -- Somebody may still add to it.
            EXECUTE format('LOCK TABLE belfry.%I IN SHARE MODE', child.name);
            EXECUTE format('SELECT EXISTS (SELECT 1 FROM belfry.%I)', child.name) INTO has_rows;
            CONTINUE WHEN has_rows;
        END IF;
        EXECUTE format('DROP TABLE belfry.%I', child.name);
        IF child.is_old AND child.parent = 'history' THEN
            DELETE FROM belfry.attempt_default WHERE exec_id >= (child.week * width) << 22
                AND exec_id < ((child.week + 1) * width) << 22; -- where its week had no table
            DELETE FROM belfry.old_week WHERE week = child.week;
        END IF;
        RETURN child.name;
    END LOOP;
    RETURN NULL;
EXCEPTION WHEN lock_not_available THEN
    RETURN NULL;
END $$;

REVOKE EXECUTE ON FUNCTION belfry.drop_week() FROM PUBLIC;
