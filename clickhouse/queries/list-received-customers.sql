-- Purpose: customers whose events were received in a range of time, to tell those that exist from the others.
-- Grain:   one row per customer key.
-- Params:  tenantId, environmentId; fromMs, toMs: half-open range of receipt; rowsMax: one more than the caller accepts;
--          events: the events as they count (corrected-events.sql).
SELECT DISTINCT customer_key
FROM $events$ AS e
WHERE tenant_id = {tenantId:String} AND environment_id = {environmentId:String}
  AND received_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND received_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
  AND appended_at >= fromUnixTimestamp64Milli({fromMs:Int64} - 86400000, 'UTC')
LIMIT {rowsMax:UInt64}
