-- Purpose: customers with events that the log appended in a range of offsets, to find those that came after the invoice of their period.
-- Grain:   one row per environment and customer key, with the earliest timestamp of these events; one page of them.
-- Params:  logs, partitions, sinceOffsets, untilOffsets: for each partition, the range of the offsets; least: the least of these offsets;
--          tenantId, environmentId: one environment alone, or empty texts for all; afterTenant, afterEnvironment, afterKey: the last row of
--          the page before; rowsMax: rows of a page.
-- Index:   log_offset_range leaves the newest events.
SELECT e.tenant_id AS tenant_id, e.environment_id AS environment_id, e.customer_key AS customer_key,
  toString(min(toUnixTimestamp64Milli(e.timestamp))) AS first_ms
FROM events_v1 AS e
WHERE e.log_offset >= {least:UInt64}
  AND ({tenantId:String} = '' OR (e.tenant_id = {tenantId:String} AND e.environment_id = {environmentId:String}))
  AND (e.tenant_id, e.environment_id, e.customer_key) > ({afterTenant:String}, {afterEnvironment:String}, {afterKey:String})
  AND arrayExists((log, partition, since, until) ->
        log = e.log_id AND partition = e.log_partition AND e.log_offset >= since AND e.log_offset < until,
      {logs:Array(String)}, {partitions:Array(UInt32)}, {sinceOffsets:Array(UInt64)}, {untilOffsets:Array(UInt64)})
GROUP BY e.tenant_id, e.environment_id, e.customer_key
ORDER BY e.tenant_id, e.environment_id, e.customer_key
LIMIT {rowsMax:UInt64}
