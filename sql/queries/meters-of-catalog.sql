-- Meters of one catalog version, of all tenants; a meter that is being changed has two rows. The order never changes, since
-- the rows of a batch depend on it. Params: :version.
SELECT meter_id, version, tenant_id, environment_id, event_name, filters, generation,
       aggregation_type, aggregation_field, aggregation_expression, aggregation_multiplier, aggregation_group_by
FROM meter_versions
WHERE activated_in <= :version AND (retired_in IS NULL OR retired_in > :version)
ORDER BY meter_id, generation
