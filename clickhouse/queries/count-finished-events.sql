-- Purpose: stored events by hour of receipt and by what becomes of them with the meters and customers there are now.
-- Grain:   one row per hour.
-- Params:  tenantId, environmentId; fromMs, toMs: whole hours; bounds: JSON as of sum-accepted-events.sql; unknownKeys: JSON
--          list of customer keys that belong to nobody; wholeNames: event names that a meter counts without filters and for
--          ever; narrowNames and narrowMeters: the names of all other meters and JSON [{event_name, filters, is_ended, ends}].
-- Index:   none by receipt; parts of other months are left out, since nothing is appended before it is received, clocks
--          being a day apart at most.
WITH JSONExtract({narrowMeters:String}, 'Array(Tuple(event_name String, filters Array(Tuple(key String, values Array(String))), is_ended Bool, ends Array(Tuple(log String, partition UInt32, counted_below UInt64))))')
  AS narrow_meters
SELECT hour_ms, countIf(is_known AND is_matched) AS counted, countIf(NOT is_known) AS unmatched_customer,
  countIf(is_known AND NOT is_matched) AS unmatched_meter
FROM
(
  SELECT intDiv(toUnixTimestamp64Milli(e.received_at), 3600000) * 3600000 AS hour_ms,
    e.customer_key NOT IN (SELECT arrayJoin(JSONExtract({unknownKeys:String}, 'Array(String)'))) AS is_known,
    has({wholeNames:Array(String)}, e.event_name) OR (has({narrowNames:Array(String)}, e.event_name) AND
      arrayExists(m -> tupleElement(m, 'event_name') = e.event_name
        AND arrayAll(f -> mapContains(e.properties, tupleElement(f, 'key'))
          AND has(tupleElement(f, 'values'), e.properties[tupleElement(f, 'key')]), tupleElement(m, 'filters'))
        AND (NOT tupleElement(m, 'is_ended') OR arrayExists(x -> tupleElement(x, 'log') = e.log_id
          AND tupleElement(x, 'partition') = e.log_partition AND e.log_offset < tupleElement(x, 'counted_below'),
          tupleElement(m, 'ends'))), narrow_meters)) AS is_matched
  FROM events_v1 AS e
  INNER JOIN
  (
    SELECT tupleElement(b, 'log_id') AS log_id, tupleElement(b, 'log_partition') AS log_partition,
      tupleElement(b, 'next_offset') AS next_offset
    FROM (SELECT arrayJoin(JSONExtract({bounds:String},
      'Array(Tuple(log_id String, log_partition UInt32, next_offset UInt64))')) AS b)
  ) AS bound ON e.log_id = bound.log_id AND e.log_partition = bound.log_partition
  WHERE e.tenant_id = {tenantId:String} AND e.environment_id = {environmentId:String}
    AND e.received_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
    AND e.received_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
    AND e.appended_at >= fromUnixTimestamp64Milli({fromMs:Int64} - 86400000, 'UTC')
    AND e.log_offset < bound.next_offset
)
GROUP BY hour_ms
