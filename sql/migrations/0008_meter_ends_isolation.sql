-- The API reads where archived meters ended in the snapshot of a computation, as the role that row-level security binds.
-- The table has no environment of its own: whoever sees a meter sees where it ended.
ALTER TABLE meter_ends ENABLE ROW LEVEL SECURITY;
CREATE POLICY environment_isolation ON meter_ends FOR SELECT TO minutebook_app
  USING (EXISTS (SELECT FROM meters WHERE meters.id = meter_id));
GRANT SELECT ON meter_ends TO minutebook_app;
