-- Purpose: event names of an environment for which there is no meter, each with the first event of it that was received in a window.
-- Grain:   one row per event name.
-- Params:  tenantId, environmentId; fromMs, toMs: half-open range of the instants of receipt; metered: the names that meters count; limit.
-- Index:   none by receipt; as list-received-events.
SELECT e.event_id AS event_id, toString(e.event_name) AS event_name, e.customer_key AS customer_key,
  e.customer_id AS customer_id, toString(e.source) AS source,
  toString(toUnixTimestamp64Milli(e.timestamp)) AS timestamp_ms,
  toString(toUnixTimestamp64Milli(e.received_at)) AS received_ms,
  CAST(e.properties, 'Map(String, String)') AS properties,
  toString(e.log_id) AS log_id, e.log_partition AS log_partition, e.log_offset AS log_offset,
  e.record_index AS record_index
FROM events_v1 AS e
WHERE e.tenant_id = {tenantId:String} AND e.environment_id = {environmentId:String}
  AND e.received_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND e.received_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
  AND e.appended_at >= fromUnixTimestamp64Milli({fromMs:Int64} - 86400000, 'UTC')
  AND NOT has({metered:Array(String)}, toString(e.event_name))
ORDER BY e.received_at, e.event_id
LIMIT 1 BY e.event_name
LIMIT {limit:UInt64}
