-- An id that no log has had.
CREATE OR REPLACE FUNCTION new_event_log_id() RETURNS text LANGUAGE sql AS $$
  SELECT 'pg-' || replace(gen_random_uuid()::text, '-', '')
$$;
