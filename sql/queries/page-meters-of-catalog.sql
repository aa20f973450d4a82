-- A page of the meters of a catalog version, of all tenants, in order of generation (0013). Params: :version,
-- :behind_generation, :rows_max.
SELECT meter_id, version, tenant_id, environment_id, event_name, filters, generation,
       aggregation_type, aggregation_field, aggregation_expression, aggregation_multiplier, aggregation_group_by
FROM page_meters_of_catalog(:version, :behind_generation, :rows_max)
