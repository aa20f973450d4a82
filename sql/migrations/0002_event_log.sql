-- The event log in PostgreSQL, used without Kafka (event-log/README.md): partitioned, durable, read by offset.
-- One row of event_log_batches holds all records that one transaction appended to one partition, as a record batch does
-- in Kafka: an append of 1,000 single events costs as many rows as it touches partitions.

-- One row: the identity of the log. The id is renewed whenever an offset could be given out a second time.
CREATE TABLE event_logs (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  log_id text NOT NULL CHECK (log_id ~ '^[A-Za-z0-9_-]{1,64}$'),
  partition_count integer NOT NULL CHECK (partition_count BETWEEN 1 AND 1024),
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

-- Appends to a partition lock its row but never change it. If they did, dead row versions would gather while a long
-- transaction elsewhere holds back their removal, and appends would become slower and slower.
-- Offsets below start_offset have been removed.
CREATE TABLE event_log_partitions (
  partition integer PRIMARY KEY CHECK (partition >= 0),
  start_offset bigint NOT NULL DEFAULT 0
);

-- Records [end_offset - record_count, end_offset) of the partition. The key is the end offset, so that a forward index
-- scan finds the batch that holds an offset, and the last index entry is the end of the partition.
CREATE TABLE event_log_batches (
  partition integer NOT NULL,
  end_offset bigint NOT NULL,
  record_count integer NOT NULL CHECK (record_count > 0 AND record_count <= end_offset),
  appended_at timestamptz(3) NOT NULL,
  -- Lengths of keys and values in UTF-16 units, `3:250,3:248`; with `!` in front when U+0000 is escaped
  -- (event-log/postgres/batch-text.ts).
  lengths text NOT NULL,
  -- Key, value, key, value and so on, without separators.
  payload text NOT NULL,
  PRIMARY KEY (partition, end_offset)
) WITH (
  -- Rows up to a page stay in the heap uncompressed. Larger payloads are compressed, which costs a tenth of the rate and
  -- saves more than half of disk and write-ahead log (docs/measurements/event-log-rate.md), and moved to the TOAST table.
  toast_tuple_target = 8160,
  -- Retention deletes only at the old end, so the default, a fifth of the table, would be too late.
  autovacuum_vacuum_scale_factor = 0.05,
  toast.autovacuum_vacuum_scale_factor = 0.05
);

CREATE FUNCTION new_event_log_id() RETURNS text LANGUAGE sql AS $$
  SELECT 'pg-' || replace(gen_random_uuid()::text, '-', '')
$$;

-- The identity of the log. The first caller creates it with this number of partitions, which later calls do not change.
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

-- Gives the log a new id. Must be called after this database was restored from a backup, since offsets that were given out
-- after the backup will be given out again. Programs with the old id are refused until they are restarted.
CREATE FUNCTION renew_event_log_id() RETURNS text LANGUAGE sql AS $$
  UPDATE event_logs SET log_id = new_event_log_id() RETURNING log_id
$$;

-- Appends one batch to each of the given partitions, which must be in ascending order: callers that lock in the same order
-- cannot deadlock. The lock of a partition is held until the commit is visible, so nobody can get offset n + 1 before
-- offset n can be read. The time of a batch is by this server's clock and never earlier than that of the previous batch.
-- Errors: MB001 the log has another id; MB002 the log does not have the partitions, or they are not in order.
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
  -- A server or role may default to a weaker setting, with which a crash would lose acknowledged records.
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  FOR i IN 1 .. cardinality(partitions) LOOP
    target := partitions[i];
    PERFORM FROM event_log_partitions WHERE partition = target FOR NO KEY UPDATE;
    IF NOT FOUND OR target <= previous THEN
      RAISE EXCEPTION 'partition % is not of this log or out of order', target USING ERRCODE = 'MB002';
    END IF;
    -- A separate statement, so that its snapshot is taken after the lock and shows the batch of the previous holder.
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

-- Batches in ascending order from the one that holds from_offset, up to the one with which the payloads reach bytes_max.
-- No rows when the log has another id.
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

-- Removes at most batches_max batches that end at or below the finished offset and are older than the retention, but never
-- the last batch of the partition. Returns how many were removed.
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
  -- This comes last, because appends to the partition wait from here to the commit.
  UPDATE event_log_partitions p SET start_offset = new_start
  WHERE p.partition = target AND p.start_offset < new_start;
  RETURN removed;
END
$$;

REVOKE ALL ON FUNCTION open_event_log, renew_event_log_id, append_event_log, event_log_bounds, read_event_log,
  trim_event_log FROM PUBLIC;
