-- When the log appended the last finished batch. A new owner asks ClickHouse for that batch, and for rows beyond it, only from this
-- time on: what it reads at a take does not grow with the months that are stored (docs/architecture.md 3.1). Null for a batch that a
-- release before this one finished. Programs of the previous release may run: what they leave behind is an earlier time, from
-- which on there is more to read and nothing less.
ALTER TABLE aggregator_checkpoints ADD COLUMN last_batch_appended_at timestamptz(3);
