-- Purpose: the events as they count under some corrections. It stands where a query without corrections reads events_v1. Withdrawn
--          events are left out. An amended event has the values of its latest correction (docs/internals/architecture.md D-026).
-- Grain:   one row per event that counts.
-- Params:  bound where `$…$` stands: $scope$ the environment and perhaps the event name, as conditions on columns without a table; $raw$
--          conditions on the events as they were sent, which the primary key answers; $corrections$ the numbers of the corrections.
-- Index:   events_v1 and event_corrections_v1 by tenant, environment, event_name.
-- An event that two of the corrections name counts as the later one says, since that was made from what the earlier one left.
(
  SELECT tenant_id, environment_id, event_name, customer_key, timestamp, event_id, customer_id, source, properties, received_at,
    is_timestamp_given, log_id, log_partition, log_offset, record_index, appended_at, 0 AS correction
  FROM events_v1 AS e
  WHERE $scope$ AND $raw$ AND (log_id, log_partition, log_offset, record_index) NOT IN
    (SELECT log_id, log_partition, log_offset, record_index FROM event_corrections_v1
     WHERE $scope$ AND correction IN ($corrections$) AND effect != 'added')
  UNION ALL
  SELECT tenant_id, environment_id, event_name, new_customer_key AS customer_key, new_timestamp AS timestamp, event_id,
    new_customer_id AS customer_id, source, new_properties AS properties, received_at, is_timestamp_given, log_id, log_partition,
    log_offset, record_index, appended_at, correction
  FROM
  (
    SELECT * FROM event_corrections_v1
    WHERE $scope$ AND correction IN ($corrections$)
    ORDER BY correction DESC
    LIMIT 1 BY log_id, log_partition, log_offset, record_index
  )
  WHERE effect != 'withdrawn'
)
