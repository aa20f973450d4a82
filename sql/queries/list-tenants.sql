-- Every tenant of the installation, oldest first (ids sort by creation), for an operator. Grain: one row per tenant. Run as the owner.
SELECT tenants.id, tenants.name, tenants.status, tenants.created_at, count(environments.id)::integer AS environments
FROM tenants
LEFT JOIN environments ON environments.tenant_id = tenants.id
GROUP BY tenants.id
ORDER BY tenants.id
