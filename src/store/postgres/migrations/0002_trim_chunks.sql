-- Output goes by whole weeks where it can.

-- Empties the weeks of output of which nothing is younger than a moment, whatever their size; belfry.tend
-- drops the tables later. Waits for nobody: what is in use is tried another time. Tells how many chunks there
-- were, as far as the statistics know. SECURITY DEFINER, as belfry.tend.
CREATE FUNCTION belfry.trim_chunks(before_ms bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = belfry, pg_temp SET lock_timeout = '200ms' AS $$
DECLARE
    width constant bigint := 604800000; -- a week of ids, in milliseconds since 2020
    week bigint := (before_ms - 1577836800000) / width;
    child record;
    young boolean;
    total bigint := 0;
BEGIN
    FOR child IN
        SELECT c.relname, greatest(c.reltuples, 1)::bigint AS chunks
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'belfry.chunk'::regclass AND c.relname ~ '_w[0-9]+$'
            AND substring(c.relname FROM '_w([0-9]+)$')::bigint < week AND c.relpages <> 0
    LOOP
        BEGIN
            EXECUTE format('LOCK TABLE belfry.%I IN ACCESS EXCLUSIVE MODE', child.relname);
            EXECUTE format('SELECT EXISTS (SELECT 1 FROM belfry.%I WHERE at_ms >= $1)', child.relname)
                INTO young USING before_ms;
            CONTINUE WHEN young;
            EXECUTE format('TRUNCATE belfry.%I', child.relname);
            total := total + child.chunks;
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
    END LOOP;
    RETURN total;
END $$;

REVOKE EXECUTE ON FUNCTION belfry.trim_chunks(bigint) FROM PUBLIC;
