-- Purpose: how many events were decoded, counted before anything else happened to them, by hour of receipt; and how far the batches
--          that are counted reach, which may be beyond what was finished when the checkpoints were read.
-- Grain:   one row per environment and hour (log_id ''), and one per partition of a log.
-- Params:  tenantId, environmentId; isAnyTenant: of everybody, for the reconciliation; fromMs, toMs: whole hours; bounds: JSON [{log_id, log_partition,
--          next_offset}] of every partition: batches that end at or below next_offset are finished. Rows of earlier releases
--          name their batch as start:end, and count only when it is finished.
-- Index:   usage_minute_v1 by tenant, environment, meter, customer (''), generation, minute. Read once, so that all rows are of
--          one moment: a batch of the answer is whole, and so is every batch before it.
SELECT tenant_id, environment_id, hour_ms, log_id, log_partition, sum(event_count) AS accepted,
  max(counted_below) AS counted_below
FROM
(
  SELECT u.tenant_id AS tenant_id, u.environment_id AS environment_id, toInt64(u.minute) * 1000 AS hour_ms, u.event_count AS event_count,
    bound.log_id AS log_id, bound.log_partition AS log_partition, if(u.group_key = '', toUInt64(u.value_max), 0) AS counted_below
  FROM usage_minute_v1 AS u
  INNER JOIN
  (
    SELECT tupleElement(b, 'log_id') AS log_id, tupleElement(b, 'log_partition') AS log_partition,
      concat(log_id, ':', toString(log_partition)) AS source, tupleElement(b, 'next_offset') AS next_offset
    FROM (SELECT arrayJoin(JSONExtract({bounds:String},
      'Array(Tuple(log_id String, log_partition UInt32, next_offset UInt64))')) AS b)
  ) AS bound ON u.source = bound.source
  WHERE ({isAnyTenant:Bool} OR u.tenant_id = {tenantId:String})
    AND ({isAnyTenant:Bool} OR u.environment_id = {environmentId:String})
    AND u.customer_key = '' AND u.meter_id = '#accepted' AND u.generation = 0
    AND u.minute >= toDateTime64(intDiv({fromMs:Int64}, 1000), 0, 'UTC')
    AND u.minute < toDateTime64(intDiv({toMs:Int64}, 1000), 0, 'UTC')
    AND (u.group_key = '' OR toUInt64OrZero(splitByChar(':', u.group_key)[2]) <= bound.next_offset)
)
GROUP BY GROUPING SETS ((tenant_id, environment_id, hour_ms), (log_id, log_partition))
