-- What the aggregator must know durably: the catalog of meters by version, the checkpoint of every partition of the
-- log, and which processes share the partitions. Rules: architecture.md 3.1 and 3.2.

-- One row. A meter's own transaction raises it, so the order of commits is the order of the numbers.
CREATE TABLE catalog_counter (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  version bigint NOT NULL
);
INSERT INTO catalog_counter (version) VALUES (1);

-- A version, once here, never changes; the checkpoint refers to it, so a pinned version can always be loaded.
CREATE TABLE catalog_versions (
  version bigint PRIMARY KEY,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
INSERT INTO catalog_versions (version) VALUES (1);

-- Definitions of meters. A row is in force in catalog versions [activated_in, retired_in).
CREATE TABLE meter_versions (
  meter_id text NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  event_name text NOT NULL,
  filters jsonb NOT NULL DEFAULT '[]',
  -- Usage rows written by the live stream of this definition carry this number.
  generation bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  -- The pointer: readers sum the usage rows of these generations and of no other. Empty until the backfill of a meter
  -- that came after events is complete; then set in one transaction, so nobody ever reads a part of it.
  read_generations bigint[] NOT NULL DEFAULT '{}',
  activated_in bigint NOT NULL REFERENCES catalog_versions,
  retired_in bigint REFERENCES catalog_versions,
  PRIMARY KEY (meter_id, version),
  UNIQUE (generation)
);
CREATE INDEX meter_versions_in_force ON meter_versions (activated_in, retired_in);
SELECT isolate_environment('meter_versions');

-- One row a partition: everything that a successor needs to go on, or to finish what its predecessor began.
CREATE TABLE aggregator_checkpoints (
  log text NOT NULL,
  partition integer NOT NULL CHECK (partition >= 0),
  epoch bigint NOT NULL DEFAULT 0,
  next_offset bigint NOT NULL DEFAULT 0,
  -- While not null, the batch [next_offset, pending_end) may be partly in ClickHouse.
  pending_end bigint CHECK (pending_end > next_offset),
  catalog_version bigint NOT NULL REFERENCES catalog_versions,
  -- No intent may use an older catalog: raised by a meter's activation, which took its vector from this row.
  min_version bigint NOT NULL REFERENCES catalog_versions,
  fold_version integer NOT NULL DEFAULT 1,
  digest text,
  -- The last finished batch, for the sanity check at take.
  last_batch_start bigint,
  last_batch_rows integer,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (log, partition)
);

-- Offset at which the live stream of a meter version begins, one row a partition. Partitions without a row begin at 0:
-- they did not exist when the version was activated.
CREATE TABLE meter_vectors (
  meter_id text NOT NULL,
  version integer NOT NULL,
  log text NOT NULL,
  partition integer NOT NULL,
  live_from bigint NOT NULL,
  PRIMARY KEY (meter_id, version, log, partition),
  FOREIGN KEY (meter_id, version) REFERENCES meter_versions
);

-- Stored events that a new definition has still to be applied to: those below its vector. One row a version that came
-- after events; the aggregator works them off.
CREATE TABLE meter_backfills (
  meter_id text NOT NULL,
  version integer NOT NULL,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'completed', 'failed')),
  -- Attempts write under generations of their own: one that was given up is never read and never continued.
  attempts integer NOT NULL DEFAULT 0,
  -- Until then a process is at work on it; two at work are harmless, since only one attempt becomes visible.
  claimed_until timestamptz,
  events_scanned bigint NOT NULL DEFAULT 0,
  events_matched bigint NOT NULL DEFAULT 0,
  started_at timestamptz(3) NOT NULL DEFAULT now(),
  completed_at timestamptz(3),
  error text,
  PRIMARY KEY (meter_id, version),
  FOREIGN KEY (meter_id, version) REFERENCES meter_versions
);
CREATE INDEX meter_backfills_running ON meter_backfills (started_at) WHERE status = 'running';
SELECT isolate_environment('meter_backfills');

-- Puts a new definition of a meter in force, inside the transaction that writes the meter. For every partition, in
-- order: no batch may start with an older catalog from now on, and the live stream owns what lies at or above the end of
-- the batch that is already promised. Any other choice of the vector loses or doubles events (model: meter.*).
-- SECURITY DEFINER, since the calling role sees neither checkpoints nor other tenants.
CREATE FUNCTION activate_meter_version(
  meter text, definition_version integer, tenant text, environment text, name text, definition_filters jsonb
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE
  catalog bigint;
BEGIN
  UPDATE catalog_counter SET version = version + 1 RETURNING version INTO catalog;
  INSERT INTO catalog_versions (version) VALUES (catalog);
  UPDATE meter_versions SET retired_in = catalog WHERE meter_id = meter AND retired_in IS NULL;
  INSERT INTO meter_versions
    (meter_id, version, tenant_id, environment_id, event_name, filters, activated_in)
  VALUES (meter, definition_version, tenant, environment, name, definition_filters, catalog);
  PERFORM 1 FROM aggregator_checkpoints ORDER BY log, partition FOR UPDATE;
  UPDATE aggregator_checkpoints SET min_version = catalog;
  INSERT INTO meter_vectors (meter_id, version, log, partition, live_from)
  SELECT meter, definition_version, log, partition, coalesce(pending_end, next_offset)
  FROM aggregator_checkpoints;
  IF EXISTS (SELECT FROM meter_vectors
             WHERE meter_id = meter AND version = definition_version AND live_from > 0) THEN
    INSERT INTO meter_backfills (meter_id, version, tenant_id, environment_id)
    VALUES (meter, definition_version, tenant, environment);
  ELSE
    UPDATE meter_versions SET read_generations = ARRAY[generation]
    WHERE meter_id = meter AND version = definition_version;
  END IF;
  RETURN catalog;
END
$$;
REVOKE ALL ON FUNCTION activate_meter_version FROM PUBLIC;
GRANT EXECUTE ON FUNCTION activate_meter_version TO minutebook_app;

-- Aggregator processes that share the partitions. Sharing is for speed only: that two processes believe to own one
-- partition is harmless, since the epoch fences the older one.
CREATE TABLE aggregator_members (
  log text NOT NULL,
  member_id text NOT NULL,
  heartbeat_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (log, member_id)
);
