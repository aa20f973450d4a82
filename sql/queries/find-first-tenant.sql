-- The oldest tenant, which the first start created, with its production environment and first user. Grain: at most one row.
-- Called under the lock of bootstrap. Ids sort by creation.
SELECT tenants.id AS tenant_id, environments.id AS environment_id, users.id AS user_id
FROM tenants
JOIN environments ON environments.tenant_id = tenants.id AND environments.type = 'production'
JOIN users ON users.tenant_id = tenants.id
ORDER BY tenants.id, environments.id, users.id
LIMIT 1
