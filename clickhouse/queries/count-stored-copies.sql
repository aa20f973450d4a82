-- Purpose: copies of events that are stored by hour of receipt: those that count, and duplicates, of which a place that was
--          written twice is one.
-- Grain:   one row per environment, hour and kind.
-- Params:  tenantId, environmentId; isAnyTenant: of everybody, for the reconciliation; fromMs, toMs: whole hours; kinds: what is
--          wanted of `event` and `duplicate`. How far each partition is finished: logs, logNumbers (1, 2 and so on for them),
--          partitionsMax, nextOffsets: JSON list of partitionsMax zeros for other logs, then as many offsets for each log. A place in a list is
--          found ten times as fast as a row of a join (8.7 million events: 0.9 s against 10 s).
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
WHERE log_partition < {partitionsMax:UInt32} AND log_offset < JSONExtract({nextOffsets:String}, 'Array(UInt64)')[
  {partitionsMax:UInt32} * transform(log_id, {logs:Array(String)}, {logNumbers:Array(UInt32)}, 0) + log_partition + 1]
GROUP BY tenant_id, environment_id, hour_ms, kind
