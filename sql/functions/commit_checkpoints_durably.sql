-- What a checkpoint says must be durable before the aggregator acts on it: after a crash that lost an intent, the rows of its
-- batch would be in ClickHouse and nobody would know of it; a batch of duplicates alone would be counted twice in the books.
-- A server or role may default to a weaker synchronous_commit, so every statement that changes checkpoints raises it for its
-- transaction, activations of meters included. Safe while programs of the previous release run.
CREATE OR REPLACE FUNCTION commit_checkpoints_durably() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION commit_checkpoints_durably FROM PUBLIC;

CREATE OR REPLACE TRIGGER commit_checkpoints_durably BEFORE INSERT OR UPDATE ON aggregator_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION commit_checkpoints_durably();
