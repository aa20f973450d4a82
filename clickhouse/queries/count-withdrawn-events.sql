-- Purpose: stored events by hour of receipt that corrections in force withdraw: the latest of the corrections decides.
-- Grain:   one row per hour.
-- Params:  tenantId, environmentId; fromMs, toMs: whole hours; appendedFromMs: where raw events begin; corrections: those in force.
-- Index:   event_corrections_v1 by tenant, environment; none by receipt.
SELECT intDiv(toUnixTimestamp64Milli(received_at), 3600000) * 3600000 AS hour_ms, count() AS withdrawn
FROM
(
  SELECT received_at, effect FROM event_corrections_v1
  WHERE tenant_id = {tenantId:String} AND environment_id = {environmentId:String} AND correction IN {corrections:Array(UInt64)}
    AND received_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
    AND received_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
    AND appended_at >= fromUnixTimestamp64Milli({appendedFromMs:Int64}, 'UTC')
  ORDER BY correction DESC
  LIMIT 1 BY log_id, log_partition, log_offset, record_index
)
WHERE effect = 'withdrawn'
GROUP BY hour_ms
