-- Notes that the log was looked through for late usage up to these ends (docs/domain.md 13.8). Answers where the next look begins: where
-- the one before this had ended.
CREATE OR REPLACE FUNCTION note_late_usage_look(looked_until jsonb) RETURNS jsonb
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE late_usage_looks SET looked_at = clock_timestamp(), previous_ends = ends, ends = looked_until
  RETURNING previous_ends
$$;
REVOKE ALL ON FUNCTION note_late_usage_look FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_late_usage_look TO minutebook_programs;
