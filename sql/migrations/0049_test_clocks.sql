-- A test clock as its operations answer it: its name, and the advance that is under way (docs/domain.md 32.4).
ALTER TABLE test_clocks ADD COLUMN id text NOT NULL DEFAULT 'clock_' || md5(random()::text);
ALTER TABLE test_clocks ADD COLUMN name text;
ALTER TABLE test_clocks ADD COLUMN clock_status text NOT NULL DEFAULT 'ready' CHECK (clock_status IN ('ready', 'advancing', 'failed'));
ALTER TABLE test_clocks ADD COLUMN advance_to timestamptz(3);
-- The number of the last system event before the last advance, after which what it did is told.
ALTER TABLE test_clocks ADD COLUMN events_before bigint NOT NULL DEFAULT 0;
ALTER TABLE test_clocks ADD COLUMN failure_reason text;
ALTER TABLE test_clocks ADD COLUMN created_at timestamptz(3) NOT NULL DEFAULT now();
CREATE UNIQUE INDEX test_clocks_id ON test_clocks (id);
