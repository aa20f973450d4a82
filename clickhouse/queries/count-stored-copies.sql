-- Purpose: copies of events that are stored by hour of receipt: those that count, and duplicates, of which a place that was
--          written twice is one.
-- Grain:   one row per environment, hour and kind.
-- Params:  tenantId, environmentId; isAnyTenant: of everybody, for the reconciliation; fromMs, toMs: whole hours; bounds: JSON as of
--          sum-accepted-events.sql; kinds: what is wanted of `event` and `duplicate`.
SELECT tenant_id, environment_id, hour_ms, kind, count() AS copies, countIf(is_conflict) AS conflicts
FROM
(
  SELECT tenant_id, environment_id, intDiv(toUnixTimestamp64Milli(received_at), 3600000) * 3600000 AS hour_ms,
    'event' AS kind, false AS is_conflict, log_id, log_partition, log_offset, record_index
  FROM events_v1
  WHERE has({kinds:Array(String)}, 'event')
    AND ({isAnyTenant:Bool} OR tenant_id = {tenantId:String})
    AND ({isAnyTenant:Bool} OR environment_id = {environmentId:String})
    AND received_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
    AND received_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
    AND appended_at >= fromUnixTimestamp64Milli({fromMs:Int64} - 86400000, 'UTC')
  UNION ALL
  SELECT DISTINCT tenant_id, environment_id, intDiv(toUnixTimestamp64Milli(received_at), 3600000) * 3600000 AS hour_ms,
    'duplicate' AS kind, is_conflict, log_id, log_partition, log_offset, record_index
  FROM event_duplicates_v1
  WHERE has({kinds:Array(String)}, 'duplicate')
    AND ({isAnyTenant:Bool} OR tenant_id = {tenantId:String})
    AND ({isAnyTenant:Bool} OR environment_id = {environmentId:String})
    AND received_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
    AND received_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
    AND appended_at >= fromUnixTimestamp64Milli({fromMs:Int64} - 86400000, 'UTC')
) AS copy
INNER JOIN
(
  SELECT tupleElement(b, 'log_id') AS log_id, tupleElement(b, 'log_partition') AS log_partition,
    tupleElement(b, 'next_offset') AS next_offset
  FROM (SELECT arrayJoin(JSONExtract({bounds:String},
    'Array(Tuple(log_id String, log_partition UInt32, next_offset UInt64))')) AS b)
) AS bound ON copy.log_id = bound.log_id AND copy.log_partition = bound.log_partition
WHERE log_offset < bound.next_offset
GROUP BY tenant_id, environment_id, hour_ms, kind
