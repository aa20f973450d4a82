-- Meters in force in one catalog version, of all tenants. Params: :version.
SELECT meter_id, version, tenant_id, environment_id, event_name, filters, generation
FROM meter_versions
WHERE activated_in <= :version AND (retired_in IS NULL OR retired_in > :version)
