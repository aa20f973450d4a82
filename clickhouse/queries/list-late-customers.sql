-- Purpose: the customers with events that lie before an instant and came between two watermarks, for exports.
-- Grain:   one row per customer key, with the earliest of these events.
-- Params:  tenantId, environmentId; beforeMs: events before this instant; countedMs: nothing that was received before it is wanted;
--          logs, partitions, sinceOffsets, untilOffsets: for each partition, the range of the offsets.
-- Index:   none by offset; parts of other months are left out, since nothing is appended before it is received, clocks apart.
SELECT e.customer_key AS customer_key, toString(min(toUnixTimestamp64Milli(e.timestamp))) AS first_ms
FROM events_v1 AS e
WHERE e.tenant_id = {tenantId:String} AND e.environment_id = {environmentId:String}
  AND e.timestamp < fromUnixTimestamp64Milli({beforeMs:Int64}, 'UTC')
  AND e.received_at >= fromUnixTimestamp64Milli({countedMs:Int64}, 'UTC')
  AND e.appended_at >= fromUnixTimestamp64Milli({countedMs:Int64} - 86400000, 'UTC')
  AND arrayExists((log, partition, since, until) ->
        log = e.log_id AND partition = e.log_partition AND e.log_offset >= since AND e.log_offset < until,
      {logs:Array(String)}, {partitions:Array(UInt32)}, {sinceOffsets:Array(UInt64)}, {untilOffsets:Array(UInt64)})
GROUP BY e.customer_key
ORDER BY e.customer_key
