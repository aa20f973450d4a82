-- Corrections of events (docs/domain.md 7.10, docs/architecture.md D-026): what a correction is and whether it is in force. How each event
-- counts under it stands in ClickHouse, under its number; from the commit of a move on, all readers see the other state.
CREATE TABLE event_corrections (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  type text NOT NULL CHECK (type IN ('amend', 'withdraw', 'backfill')),
  correction_status text NOT NULL CHECK (correction_status IN ('preparing', 'ready', 'applied', 'reverting', 'reverted', 'failed')),
  reason text NOT NULL,
  -- What was asked for: events or a filter, and what is to change.
  request jsonb NOT NULL,
  -- Under which it stands in ClickHouse; each attempt to prepare it has another one.
  number bigint,
  token text,
  error text,
  summary jsonb,
  -- The last move of any correction of the environment that the preparation knew of.
  moves_known bigint,
  -- When it was applied or reverted last, in the order of all moves.
  move_number bigint,
  prepared_at timestamptz(3),
  applied_at timestamptz(3),
  applied_by text,
  reverted_at timestamptz(3),
  reverted_by text,
  revert_reason text,
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'published' CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  updated_by text NOT NULL,
  UNIQUE (tenant_id, environment_id, id)
);
CREATE INDEX event_corrections_newest ON event_corrections (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('event_corrections');

-- The last number and the last move that were given. A row and no sequence, so that a restored backup gives none twice.
CREATE TABLE event_correction_counters (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  number bigint NOT NULL,
  move bigint NOT NULL,
  PRIMARY KEY (tenant_id, environment_id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
SELECT isolate_environment('event_correction_counters');

-- Where a correction changes what counts: the names and times of its events as they were and as they count now, which readers ask
-- for with each meter. Instants are milliseconds; the ends are no part of the stretch.
CREATE TABLE event_correction_stretches (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  correction_id text NOT NULL,
  number bigint NOT NULL,
  event_name text NOT NULL,
  start_ms bigint NOT NULL,
  end_ms bigint NOT NULL CHECK (end_ms > start_ms),
  -- Customer keys, for which corrections touch each other; null for more than a few thousand.
  customer_keys text[],
  is_applied boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, environment_id, correction_id, event_name),
  FOREIGN KEY (tenant_id, environment_id, correction_id) REFERENCES event_corrections (tenant_id, environment_id, id)
);
CREATE INDEX event_correction_stretches_applied ON event_correction_stretches (tenant_id, environment_id, event_name) WHERE is_applied;
SELECT isolate_environment('event_correction_stretches');
