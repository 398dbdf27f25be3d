-- member.sql - who owns the store.

-- name: store_id
SELECT value FROM meta WHERE key = 'store_id';

-- name: take_partition
UPDATE partition SET owner = :node, epoch = epoch + 1
WHERE id = 0 RETURNING epoch, newest_id, turn;

-- name: raise_newest
UPDATE partition SET newest_id = max(newest_id, :id);
