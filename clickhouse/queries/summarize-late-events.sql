-- Purpose: when the events came that an invoice does not count although they lie in its period, and how many they are.
-- Grain:   one row per event name.
-- Params:  tenantId, environmentId; customers: customer keys; names: event names; fromMs, toMs: half-open range of timestamps; logs,
--          partitions, sinceOffsets: for each partition, the offset below which the invoice counts; least: the least of these; untilOffsets:
--          below which events count now.
-- Index:   events_v1 by tenant, environment, event name, customer and timestamp.
SELECT e.event_name AS event_name, toString(count()) AS event_count,
  toString(min(toUnixTimestamp64Milli(e.received_at))) AS first_ms, toString(max(toUnixTimestamp64Milli(e.received_at))) AS last_ms
FROM events_v1 AS e
WHERE e.tenant_id = {tenantId:String} AND e.environment_id = {environmentId:String} AND has({names:Array(String)}, e.event_name)
  AND has({customers:Array(String)}, e.customer_key)
  AND e.timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC') AND e.timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
  AND e.log_offset >= {least:UInt64}
  AND arrayExists((log, partition, since, until) ->
        log = e.log_id AND partition = e.log_partition AND e.log_offset >= since AND e.log_offset < until,
      {logs:Array(String)}, {partitions:Array(UInt32)}, {sinceOffsets:Array(UInt64)}, {untilOffsets:Array(UInt64)})
GROUP BY e.event_name
