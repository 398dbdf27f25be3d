-- Submits a job from a transaction of one's own: the job exists if and only if the order does.
--
--   psql -v ON_ERROR_STOP=1 -f examples/sql/submit.sql postgres://shop@localhost/belfry
--
-- Whoever owns the schema has let the role in before: SELECT belfry.admit_submitter('shop', 'sales');
CREATE TEMPORARY TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY, customer text NOT NULL);

BEGIN;
INSERT INTO orders (customer) VALUES ('ada');
SELECT belfry.submit(jsonb_build_object(
    'name', 'receipt-' || currval('orders_id_seq'),
    'command', jsonb_build_array('echo', 'a receipt for order ' || currval('orders_id_seq')),
    'retry', jsonb_build_object('max_retries', 3)));
COMMIT;

BEGIN;
INSERT INTO orders (customer) VALUES ('bob');
SELECT belfry.submit('{"name": "never", "command": ["echo", "nobody will see this"]}');
ROLLBACK; -- neither the order nor the job
