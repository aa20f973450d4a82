-- What the aggregator must know durably: the catalog of meters by version, the checkpoint of every partition of the
-- log, which processes share the partitions, and which dead letters were replayed. Rules: architecture.md 3.1 and 3.2.

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
  -- What becomes of an event (contract/aggregation.ts); the same in every version of a meter.
  aggregation_type text NOT NULL DEFAULT 'COUNT',
  aggregation_field text,
  aggregation_expression text,
  aggregation_multiplier numeric CHECK (aggregation_multiplier > 0),
  aggregation_group_by text,
  -- Usage rows written by the live stream of this definition carry this number.
  generation bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  -- The pointer: readers sum the usage rows of these generations and of no other. Empty until the backfill of a meter
  -- that came after events is complete; then set in one transaction, so nobody ever reads a part of it.
  read_generations bigint[] NOT NULL DEFAULT '{}',
  activated_in bigint NOT NULL REFERENCES catalog_versions,
  retired_in bigint REFERENCES catalog_versions,
  -- Of a version that takes a change back: the earlier version with the same filters, whose rows show it. It has none itself
  -- and is in force in no catalog.
  reverts_to integer,
  -- When the pointer left these rows, while they are still fed. Null while they are read or not readable yet.
  unread_since timestamptz,
  PRIMARY KEY (meter_id, version),
  UNIQUE (generation),
  FOREIGN KEY (meter_id, reverts_to) REFERENCES meter_versions (meter_id, version)
);
CREATE INDEX meter_versions_in_force ON meter_versions (activated_in, retired_in);
CREATE INDEX meter_versions_unread ON meter_versions (unread_since) WHERE retired_in IS NULL;
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
  -- Who owns the partition, beside the epoch that fences it. An owner keeps its partitions when others join or leave, so that
  -- little moves; owners are a matter of speed, and correctness is the epoch's.
  owner text,
  -- The living member that gave the partition up and still knows its ids: it gets it back rather than another.
  kept_by text,
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
-- Those that failed wait for another attempt; they are tried again like those that were never begun.
CREATE INDEX meter_backfills_open ON meter_backfills (started_at) WHERE status <> 'completed';
SELECT isolate_environment('meter_backfills');

-- Where the counting of an archived meter ended: it counts the events below, by partition. Partitions without a row came
-- later: it counts none of theirs.
CREATE TABLE meter_ends (
  meter_id text NOT NULL REFERENCES meters,
  log text NOT NULL,
  partition integer NOT NULL,
  counted_below bigint NOT NULL,
  PRIMARY KEY (meter_id, log, partition)
);

-- Aggregator processes that share the partitions. Sharing is for speed only: that two processes believe to own one
-- partition is harmless, since the epoch fences the older one.
CREATE TABLE aggregator_members (
  log text NOT NULL,
  member_id text NOT NULL,
  heartbeat_at timestamptz NOT NULL DEFAULT now(),
  -- A member on its way out is alive and owns what it has not released, and gets nothing any more.
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
