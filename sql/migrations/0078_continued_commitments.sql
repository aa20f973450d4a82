-- A commitment that goes on after a change of plan (docs/domain.md 11.2): where its windows are counted from, and the subscription with which it
-- began. Programs of the previous release may run: they keep no windows.
ALTER TABLE subscriptions
  ADD COLUMN commitment_start timestamptz(3),
  ADD COLUMN commitment_origin_id text;
CREATE INDEX subscriptions_of_commitment ON subscriptions (tenant_id, environment_id, commitment_origin_id)
  WHERE commitment_origin_id IS NOT NULL;
