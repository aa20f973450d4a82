-- Purpose: a page of the events of an environment that were received in a window, for exports.
-- Grain:   one row per event: duplicates of an id are in event_duplicates_v1.
-- Params:  tenantId, environmentId; fromMs, toMs: half-open range of the instants of receipt; behindMs, behindId: the place of the last
--          event of the page before; names: only these event names, or all when there are none; limit.
-- Index:   none by receipt; parts of other months are left out, since nothing is appended before it is received, clocks apart.
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
  AND (empty({names:Array(String)}) OR has({names:Array(String)}, toString(e.event_name)))
  AND (e.received_at, e.event_id) > (fromUnixTimestamp64Milli({behindMs:Int64}, 'UTC'), {behindId:String})
ORDER BY e.received_at, e.event_id
LIMIT {limit:UInt64}
