-- What the aggregator must know durably: the catalog of meters by version, the checkpoint of every partition of the
-- log, which processes share the partitions, and which dead letters were replayed. Rules: docs/architecture.md 3.1 and 3.2.

-- One row. The transaction that changes a meter raises it, so the order of commits is the order of the numbers.
CREATE TABLE catalog_counter (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  version bigint NOT NULL
);
INSERT INTO catalog_counter (version) VALUES (1);

-- A version never changes. Checkpoints refer to it by a foreign key, so the version of an intent can always be loaded.
CREATE TABLE catalog_versions (
  version bigint PRIMARY KEY,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
INSERT INTO catalog_versions (version) VALUES (1);

-- Definitions of meters. A row applies in the catalog versions [activated_in, retired_in).
CREATE TABLE meter_versions (
  meter_id text NOT NULL,
  version integer NOT NULL CHECK (version >= 1),
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  event_name text NOT NULL,
  filters jsonb NOT NULL DEFAULT '[]',
  -- How events become a number (contract/aggregation.ts); the same in every version of a meter.
  aggregation_type text NOT NULL DEFAULT 'COUNT',
  aggregation_field text,
  aggregation_expression text,
  aggregation_multiplier numeric CHECK (aggregation_multiplier > 0),
  aggregation_group_by text,
  -- Number in the usage rows that the live stream writes for this definition.
  generation bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  -- Readers sum the usage rows of these generations and of no others. Empty while the backfill of a meter that was created
  -- after events runs; then set in one transaction, so that nobody reads an incomplete backfill.
  read_generations bigint[] NOT NULL DEFAULT '{}',
  activated_in bigint NOT NULL REFERENCES catalog_versions,
  retired_in bigint REFERENCES catalog_versions,
  -- On a version that takes a change back: the earlier version with the same filters, whose usage rows it shows. It has no
  -- usage rows of its own and applies in no catalog.
  reverts_to integer,
  -- Since when no reader sees these rows, though the aggregator still adds to them. Null while they are read or incomplete.
  unread_since timestamptz,
  PRIMARY KEY (meter_id, version),
  UNIQUE (generation),
  FOREIGN KEY (meter_id, reverts_to) REFERENCES meter_versions (meter_id, version)
);
CREATE INDEX meter_versions_in_force ON meter_versions (activated_in, retired_in);
CREATE INDEX meter_versions_unread ON meter_versions (unread_since) WHERE retired_in IS NULL;
SELECT isolate_environment('meter_versions');

-- One row per partition: all that a new owner needs to continue, or to finish what the previous owner began.
CREATE TABLE aggregator_checkpoints (
  log text NOT NULL,
  partition integer NOT NULL CHECK (partition >= 0),
  epoch bigint NOT NULL DEFAULT 0,
  next_offset bigint NOT NULL DEFAULT 0,
  -- While not null, the batch [next_offset, intent_end) may be partly in ClickHouse.
  intent_end bigint CHECK (intent_end > next_offset),
  catalog_version bigint NOT NULL REFERENCES catalog_versions,
  -- No intent may use an older catalog: raised when a meter is activated, which read its start offset from this row.
  min_version bigint NOT NULL REFERENCES catalog_versions,
  fold_version integer NOT NULL DEFAULT 1,
  digest text,
  -- The last finished batch, for the sanity check at take.
  last_batch_start bigint,
  last_batch_rows integer,
  -- The process that owns the partition. An owner keeps its partitions when others join or leave, so that few move. This is
  -- for speed only: correctness follows from the epoch.
  owner text,
  -- The live process that gave the partition up and still has its id filter: it is preferred when the partition moves.
  kept_by text,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (log, partition)
);

-- Offset from which the live stream counts for a meter version, one row per partition. A partition without a row starts at
-- 0: it did not exist when the version was activated.
CREATE TABLE meter_start_offsets (
  meter_id text NOT NULL,
  version integer NOT NULL,
  log text NOT NULL,
  partition integer NOT NULL,
  live_from bigint NOT NULL,
  PRIMARY KEY (meter_id, version, log, partition),
  FOREIGN KEY (meter_id, version) REFERENCES meter_versions
);

-- Backfills: a new definition has still to be applied to the stored events below its start offsets. One row per version that
-- was activated after events; the aggregator carries them out.
CREATE TABLE meter_backfills (
  meter_id text NOT NULL,
  version integer NOT NULL,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'completed', 'failed')),
  -- Each attempt writes under a generation of its own. An attempt that was given up is never read and never continued.
  attempts integer NOT NULL DEFAULT 0,
  -- Until then a process works on it. Two at work are harmless, since only one attempt becomes visible.
  claimed_until timestamptz,
  events_scanned bigint NOT NULL DEFAULT 0,
  events_matched bigint NOT NULL DEFAULT 0,
  started_at timestamptz(3) NOT NULL DEFAULT now(),
  completed_at timestamptz(3),
  error text,
  PRIMARY KEY (meter_id, version),
  FOREIGN KEY (meter_id, version) REFERENCES meter_versions
);
-- A failed backfill is tried again in the same way as one that was never begun.
CREATE INDEX meter_backfills_open ON meter_backfills (started_at) WHERE status <> 'completed';
SELECT isolate_environment('meter_backfills');

-- Where an archived meter stopped counting: it counts the events below this offset, per partition. Of a partition without a
-- row it counts nothing: the partition came later.
CREATE TABLE meter_ends (
  meter_id text NOT NULL REFERENCES meters,
  log text NOT NULL,
  partition integer NOT NULL,
  counted_below bigint NOT NULL,
  PRIMARY KEY (meter_id, log, partition)
);

-- Aggregator processes that share the partitions. It is harmless when two processes believe that they own the same
-- partition, since the epoch fences the older one.
CREATE TABLE aggregator_members (
  log text NOT NULL,
  member_id text NOT NULL,
  heartbeat_at timestamptz NOT NULL DEFAULT now(),
  -- A process that shuts down still owns what it has not released, and receives no further partition.
  is_leaving boolean NOT NULL DEFAULT false,
  PRIMARY KEY (log, member_id)
);

-- Which dead letters were replayed, when and by whom. The letters themselves are in ClickHouse (dead_letters_v1).
CREATE TABLE dead_letter_replays (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  -- The environment that the record names once it can be decoded.
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  log text NOT NULL,
  partition integer NOT NULL,
  log_offset bigint NOT NULL,
  -- Events that were appended to the log again.
  events integer NOT NULL CHECK (events >= 0),
  replayed_at timestamptz(3) NOT NULL,
  -- The user of the key, or `operator` for the command line.
  replayed_by text NOT NULL
);
CREATE INDEX dead_letter_replays_of_letter ON dead_letter_replays (log, partition, log_offset);
SELECT isolate_environment('dead_letter_replays');
