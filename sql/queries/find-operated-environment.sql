-- Where an operator's verb works, and the oldest super_admin of the tenant. Grain: at most one row. The environment is the one that
-- is named, that of a key, or the oldest of a tenant; without any, the oldest of production, which the first start made. Ids sort by
-- creation. Run as the owner. Parameters: environment_id, secret_id, tenant_id, each a text or null.
SELECT environments.tenant_id, environments.id AS environment_id,
  (SELECT min(users.id) FROM users
   WHERE users.tenant_id = environments.tenant_id AND users.status = 'published' AND 'super_admin' = ANY (users.roles)) AS administrator_id
FROM environments
WHERE environments.id = coalesce(
  :environment_id::text,
  (SELECT secrets.environment_id FROM secrets WHERE secrets.id = :secret_id::text),
  CASE WHEN :secret_id::text IS NULL THEN
    (SELECT first.id FROM environments AS first WHERE first.tenant_id = coalesce(:tenant_id::text, first.tenant_id) ORDER BY first.type = 'production' DESC, first.id LIMIT 1)
  END)
