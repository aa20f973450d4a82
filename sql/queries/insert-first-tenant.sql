-- Creates the tenant, environment and user of the first start. No result. Called under the lock of bootstrap.
WITH tenant AS (
  INSERT INTO tenants (id, name) VALUES (:tenant_id, 'Default') RETURNING id
), environment AS (
  INSERT INTO environments (id, tenant_id, name, type)
  SELECT :environment_id, id, 'Production', 'production' FROM tenant
)
INSERT INTO users (id, tenant_id, name, type, roles)
SELECT :user_id, id, 'Administrator', 'user', ARRAY['super_admin'] FROM tenant
