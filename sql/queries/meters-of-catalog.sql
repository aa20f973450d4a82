-- Meters of one catalog version, of all tenants, in an order that never changes (0010). Params: :version.
SELECT meter_id, version, tenant_id, environment_id, event_name, filters, generation,
       aggregation_type, aggregation_field, aggregation_expression, aggregation_multiplier, aggregation_group_by
FROM meters_of_catalog(:version)
