-- Purpose: how many events were decoded, counted before anything else happened to them, by hour of receipt.
-- Grain:   one row per environment and hour.
-- Params:  tenantId, environmentId; isAnyTenant: of everybody, for the reconciliation; fromMs, toMs: whole hours; bounds: JSON [{log_id, log_partition,
--          next_offset}] of every partition: only batches that end at or below next_offset are finished.
-- Index:   usage_minute_v1 by tenant, environment, customer ('' stands first), meter, generation, minute.
SELECT u.tenant_id AS tenant_id, u.environment_id AS environment_id, toInt64(u.minute) * 1000 AS hour_ms,
  sum(u.event_count) AS accepted
FROM usage_minute_v1 AS u
INNER JOIN
(
  SELECT concat(tupleElement(b, 'log_id'), ':', toString(tupleElement(b, 'log_partition'))) AS source,
    tupleElement(b, 'next_offset') AS next_offset
  FROM (SELECT arrayJoin(JSONExtract({bounds:String},
    'Array(Tuple(log_id String, log_partition UInt32, next_offset UInt64))')) AS b)
) AS bound ON u.source = bound.source
WHERE ({isAnyTenant:Bool} OR u.tenant_id = {tenantId:String})
  AND ({isAnyTenant:Bool} OR u.environment_id = {environmentId:String})
  AND u.customer_key = '' AND u.meter_id = '#accepted' AND u.generation = 0
  AND u.minute >= toDateTime64(intDiv({fromMs:Int64}, 1000), 0, 'UTC')
  AND u.minute < toDateTime64(intDiv({toMs:Int64}, 1000), 0, 'UTC')
  AND toUInt64(splitByChar(':', u.group_key)[2]) <= bound.next_offset
GROUP BY tenant_id, environment_id, hour_ms
