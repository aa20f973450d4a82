-- The event log in PostgreSQL: what Kafka is in production (event-log/README.md). Partitioned, durable, read by offset.
-- One row of event_log_batches holds all records that one transaction appended to one partition, as a record batch does
-- in Kafka: an append of 1,000 single events costs as many rows as it touches partitions.

-- One row: which log this is. The id is renewed whenever offsets could repeat.
CREATE TABLE event_logs (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  log_id text NOT NULL CHECK (log_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  partition_count integer NOT NULL CHECK (partition_count BETWEEN 1 AND 1024),
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

-- The row of a partition is the lock under which it grows. It is locked but never changed by appends, so that a long
-- transaction elsewhere, which holds back the clean-up of dead row versions, cannot make appends slower and slower.
-- Offsets below start_offset have been removed.
CREATE TABLE event_log_partitions (
  partition integer PRIMARY KEY CHECK (partition >= 0),
  start_offset bigint NOT NULL DEFAULT 0
);

-- Records [end_offset - record_count, end_offset) of the partition. Keyed by the end, so that one forward index scan
-- finds the batch around an offset, and the last entry of the index is the end of the log.
CREATE TABLE event_log_batches (
  partition integer NOT NULL,
  end_offset bigint NOT NULL,
  record_count integer NOT NULL CHECK (record_count > 0 AND record_count <= end_offset),
  appended_at timestamptz(3) NOT NULL,
  -- Lengths of keys and values in UTF-16 units, `3:250,3:248`; with `!` in front when U+0000 is escaped
  -- (event-log/batch-text.ts).
  lengths text NOT NULL,
  -- Key, value, key, value and so on, without anything between.
  payload text NOT NULL,
  PRIMARY KEY (partition, end_offset)
) WITH (
  -- Rows up to a page stay in the heap as they are. Larger ones are compressed, which costs a tenth of the rate and
  -- saves more than half of disk and write-ahead log (measured in event-log/README.md), then go to the TOAST table.
  toast_tuple_target = 8160,
  -- Retention deletes from the old end only; the default of a fifth of the table would come too late.
  autovacuum_vacuum_scale_factor = 0.05,
  toast.autovacuum_vacuum_scale_factor = 0.05
);

CREATE FUNCTION new_event_log_id() RETURNS text LANGUAGE sql AS $$
  SELECT 'pg-' || replace(gen_random_uuid()::text, '-', '')
$$;

-- The log, created with this number of partitions by whoever comes first; later numbers change nothing.
CREATE FUNCTION open_event_log(partitions_wanted integer)
RETURNS TABLE (log_id text, partition_count integer) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO event_logs AS l (log_id, partition_count) VALUES (new_event_log_id(), partitions_wanted)
  ON CONFLICT DO NOTHING;
  IF FOUND THEN
    INSERT INTO event_log_partitions (partition) SELECT generate_series(0, partitions_wanted - 1);
  END IF;
  RETURN QUERY SELECT l.log_id, l.partition_count FROM event_logs l;
END
$$;

-- Gives the log a new id: to be called after this database was restored from a backup, since offsets that were handed
-- out after the backup will be handed out again. Programs that know the old id are refused until they start anew.
CREATE FUNCTION renew_event_log_id() RETURNS text LANGUAGE sql AS $$
  UPDATE event_logs SET log_id = new_event_log_id() RETURNING log_id
$$;

-- Appends one batch to each of some partitions, which must be given in ascending order: two callers that lock in one
-- order never wait for each other in a ring. The lock of a partition is held until the commit is visible, so nobody can
-- take offset n + 1 before offset n can be read. The time of a batch is this server's clock, never earlier than that of
-- the batch before it.
-- Errors: MB001 the log has another id, MB002 the partitions are not of this log or not in order.
CREATE FUNCTION append_event_log(
  expected_log text, partitions integer[], record_counts integer[], batch_lengths text[], payloads text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  target integer;
  previous integer := -1;
  i integer;
BEGIN
  IF NOT EXISTS (SELECT FROM event_logs WHERE log_id = expected_log) THEN
    RAISE EXCEPTION 'the event log is no longer %', expected_log USING ERRCODE = 'MB001';
  END IF;
  -- A server or role may default to a weaker setting, under which a crash loses what was acknowledged.
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  FOR i IN 1 .. cardinality(partitions) LOOP
    target := partitions[i];
    PERFORM FROM event_log_partitions WHERE partition = target FOR NO KEY UPDATE;
    IF NOT FOUND OR target <= previous THEN
      RAISE EXCEPTION 'partition % is not of this log or out of order', target USING ERRCODE = 'MB002';
    END IF;
    -- A statement of its own: its snapshot is taken after the lock, so it sees the batch of the holder before.
    INSERT INTO event_log_batches (partition, end_offset, record_count, appended_at, lengths, payload)
    SELECT target, coalesce(last.end_offset, 0) + record_counts[i], record_counts[i],
           greatest(clock_timestamp()::timestamptz(3), last.appended_at), batch_lengths[i], payloads[i]
    FROM (SELECT) AS always
    LEFT JOIN LATERAL (
      SELECT b.end_offset, b.appended_at FROM event_log_batches b
      WHERE b.partition = target ORDER BY b.end_offset DESC LIMIT 1
    ) AS last ON true;
    previous := target;
  END LOOP;
END
$$;

-- Start and end of every partition. The last batch of a partition is never removed, so its end stays known.
CREATE FUNCTION event_log_bounds()
RETURNS TABLE (log_id text, partition integer, start_offset bigint, end_offset bigint)
LANGUAGE sql STABLE AS $$
  SELECT l.log_id, p.partition, p.start_offset, coalesce((
    SELECT b.end_offset FROM event_log_batches b
    WHERE b.partition = p.partition ORDER BY b.end_offset DESC LIMIT 1), 0)
  FROM event_log_partitions p CROSS JOIN event_logs l
  ORDER BY p.partition
$$;

-- Batches from the one that holds from_offset on, ascending; ends after the batch with which the payloads reach
-- bytes_max. None when the log has another id.
CREATE FUNCTION read_event_log(
  expected_log text, source integer, from_offset bigint, batches_max integer, bytes_max bigint
) RETURNS SETOF event_log_batches LANGUAGE plpgsql STABLE AS $$
DECLARE
  batch event_log_batches;
  bytes bigint := 0;
BEGIN
  FOR batch IN
    SELECT b.* FROM event_log_batches b
    WHERE b.partition = source AND b.end_offset > from_offset
      AND EXISTS (SELECT FROM event_logs l WHERE l.log_id = expected_log)
    ORDER BY b.end_offset LIMIT batches_max
  LOOP
    RETURN NEXT batch;
    bytes := bytes + octet_length(batch.payload);
    EXIT WHEN bytes >= bytes_max;
  END LOOP;
END
$$;

-- Removes at most batches_max batches that end at or below the finished offset and are older than the retention, never
-- the last one of the partition. Returns how many went.
CREATE FUNCTION trim_event_log(target integer, finished_offset bigint, keep interval, batches_max integer)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  new_start bigint;
  removed integer;
BEGIN
  SELECT max(old.end_offset) INTO new_start FROM (
    SELECT b.end_offset, b.appended_at FROM event_log_batches b
    WHERE b.partition = target AND b.end_offset <= finished_offset
      AND b.end_offset < (
        SELECT l.end_offset FROM event_log_batches l
        WHERE l.partition = target ORDER BY l.end_offset DESC LIMIT 1)
    ORDER BY b.end_offset LIMIT batches_max
  ) AS old
  WHERE old.appended_at < clock_timestamp() - keep;
  IF new_start IS NULL THEN
    RETURN 0;
  END IF;
  DELETE FROM event_log_batches b WHERE b.partition = target AND b.end_offset <= new_start;
  GET DIAGNOSTICS removed = ROW_COUNT;
  -- Last, since appends to the partition wait from here to the commit.
  UPDATE event_log_partitions p SET start_offset = new_start
  WHERE p.partition = target AND p.start_offset < new_start;
  RETURN removed;
END
$$;

REVOKE ALL ON FUNCTION open_event_log, renew_event_log_id, append_event_log, event_log_bounds, read_event_log,
  trim_event_log FROM PUBLIC;
