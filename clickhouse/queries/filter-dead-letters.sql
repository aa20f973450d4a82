-- Purpose: log records that were no events of a known form; the caller adds the columns before, order and limit after.
-- Grain:   one row per record, or several equal ones until the engine has merged them.
-- Params:  tenantId, environmentId: those that the payload names; isAnyTenant: letters of
--          everybody, for an operator; prefix: how such a
--          payload begins, for one that is no valid JSON; logIds, partitions, offsets: places side by side, or none for all;
--          fromMs, toMs: half-open range in which the log appended them.
-- Index:   by log, partition, offset. Dead letters are few.
FROM dead_letters_v1 AS d
WHERE ({isAnyTenant:Bool} OR startsWith(d.payload, {prefix:String})
    OR (JSONExtractString(d.payload, 't') = {tenantId:String} AND JSONExtractString(d.payload, 'e') = {environmentId:String}))
  AND (empty({offsets:Array(UInt64)}) OR (d.log_offset IN {offsets:Array(UInt64)}
    AND has(arrayZip({logIds:Array(String)}, {partitions:Array(UInt32)}, {offsets:Array(UInt64)}),
      (toString(d.log_id), d.log_partition, d.log_offset))))
  AND d.appended_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND d.appended_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
