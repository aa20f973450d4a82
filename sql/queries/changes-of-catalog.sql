-- The meters in which two catalog versions differ, of all tenants (0013). Params: :earlier, :later.
SELECT meter_id, version, tenant_id, environment_id, event_name, filters, generation,
       aggregation_type, aggregation_field, aggregation_expression, aggregation_multiplier, aggregation_group_by, is_in_force
FROM changes_of_catalog(:earlier, :later)
