-- Who owns each partition, beside the checkpoint that fences it. An owner keeps its partitions when others join or leave, so
-- that little moves; owners are a matter of speed, and correctness is the epoch's.
ALTER TABLE aggregator_checkpoints
  ADD COLUMN owner text,
  -- The living member that gave the partition up and still knows its ids: it gets it back rather than another.
  ADD COLUMN kept_by text;

-- A member on its way out is alive and owns what it has not released, and gets nothing any more.
ALTER TABLE aggregator_members ADD COLUMN is_leaving boolean NOT NULL DEFAULT false;
