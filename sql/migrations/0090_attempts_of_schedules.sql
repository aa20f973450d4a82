-- How often a change that waited for its day was tried, and since when: what only stands in the way
-- for a while does not end it.
ALTER TABLE subscription_schedules
  ADD COLUMN attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  ADD COLUMN first_attempt_at timestamptz;
