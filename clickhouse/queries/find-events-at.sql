-- Purpose: the stored events at these places of the log; the caller adds the columns before.
-- Grain:   one row per place.
-- Params:  tenantId, environmentId; positions: JSON [{log_id, log_partition, log_offset, record_index}]; offsets: those of
--          the positions; fromMs, toMs: least and greatest time at which the log appended them.
-- Index:   log_offset_range; parts of other times are left out by the partition key.
FROM events_v1 AS e
WHERE e.tenant_id = {tenantId:String} AND e.environment_id = {environmentId:String}
  AND e.log_offset IN {offsets:Array(UInt64)}
  AND e.appended_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND e.appended_at <= fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
  AND (e.log_id, e.log_partition, e.log_offset, e.record_index) IN
    (SELECT arrayJoin(JSONExtract({positions:String},
      'Array(Tuple(log_id String, log_partition UInt32, log_offset UInt64, record_index UInt32))')))
