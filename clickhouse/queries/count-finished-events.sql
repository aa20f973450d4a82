-- Purpose: stored events by hour of receipt and by what becomes of them with the meters and customers there are now.
-- Grain:   one row per hour.
-- Params:  tenantId, environmentId; fromMs, toMs: whole hours; appendedFromMs: a day before, or where raw events begin; logs, logNumbers, partitionsMax, nextOffsets: as of
--          count-stored-copies.sql; unknownKeys: JSON list of customer keys that belong to nobody; wholeNames: event names that a meter
--          counts without filters and for ever; narrowNames: the names of all other meters; narrowKeys: JSON list of the properties that these
--          filter by; narrowTexts: JSON list of the values by which any of them filters, as `<place of the key>+<value>`; narrowMeters: JSON
--          [{event_name, filters, is_ended, ends}], where a filter names the place of its key and its texts.
--          events: the events as they count (corrected-events.sql).
-- Index:   none by receipt; parts of other months are left out, since nothing is appended before it is received, clocks
--          being a day apart at most. Narrow names: events_v1 by tenant, environment, event_name.
-- Meters are compared with the combinations of values that occur, not with each event: there may be hundreds of meters, ended
-- ones among them. A value that no filter names is the empty text, so that there are few combinations. A meter that ended counts the events below an offset of the partition, so the farthest of the meters decides.
SELECT hour_ms, countIf(is_known AND is_matched) AS counted, countIf(NOT is_known) AS unmatched_customer,
  countIf(is_known AND NOT is_matched) AS unmatched_meter
FROM
(
  SELECT intDiv(toUnixTimestamp64Milli(received_at), 3600000) * 3600000 AS hour_ms,
    customer_key NOT IN (SELECT arrayJoin(JSONExtract({unknownKeys:String}, 'Array(String)'))) AS is_known,
    has({wholeNames:Array(String)}, event_name) AS is_matched
  FROM $events$ AS e
  WHERE tenant_id = {tenantId:String} AND environment_id = {environmentId:String}
    AND NOT has({narrowNames:Array(String)}, event_name)
    AND received_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
    AND received_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
    AND appended_at >= fromUnixTimestamp64Milli({appendedFromMs:Int64}, 'UTC')
    AND log_partition < {partitionsMax:UInt32} AND log_offset < JSONExtract({nextOffsets:String}, 'Array(UInt64)')[
      {partitionsMax:UInt32} * transform(log_id, {logs:Array(String)}, {logNumbers:Array(UInt32)}, 0) + log_partition + 1]
  UNION ALL
  SELECT intDiv(toUnixTimestamp64Milli(e.received_at), 3600000) * 3600000 AS hour_ms,
    e.customer_key NOT IN (SELECT arrayJoin(JSONExtract({unknownKeys:String}, 'Array(String)'))) AS is_known,
    e.log_offset < reach.counted_below AS is_matched
  FROM $events$ AS e
  LEFT JOIN
  (
    SELECT seen.event_name AS event_name, seen.texts AS texts, seen.log_id AS log_id, seen.log_partition AS log_partition,
      max(if(meter.is_ended, arrayMax(arrayMap(x -> if(tupleElement(x, 'log') = seen.log_id
        AND tupleElement(x, 'partition') = seen.log_partition, tupleElement(x, 'counted_below'), 0), meter.ends)),
        18446744073709551615)) AS counted_below
    FROM
    (
      SELECT DISTINCT event_name, log_id, log_partition,
        arrayMap((k, place) -> if(mapContains(properties, k)
          AND has(JSONExtract({narrowTexts:String}, 'Array(String)'), concat(toString(place), '+', properties[k])),
          concat(toString(place), '+', properties[k]), ''), JSONExtract({narrowKeys:String}, 'Array(String)'),
          arrayEnumerate(JSONExtract({narrowKeys:String}, 'Array(String)'))) AS texts
      FROM $events$ AS e
      WHERE tenant_id = {tenantId:String} AND environment_id = {environmentId:String}
        AND event_name IN {narrowNames:Array(String)}
        AND received_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
        AND received_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
        AND appended_at >= fromUnixTimestamp64Milli({appendedFromMs:Int64}, 'UTC')
    ) AS seen
    INNER JOIN
    (
      SELECT tupleElement(m, 'event_name') AS event_name, tupleElement(m, 'filters') AS filters,
        tupleElement(m, 'is_ended') AS is_ended, tupleElement(m, 'ends') AS ends
      FROM (SELECT arrayJoin(JSONExtract({narrowMeters:String}, 'Array(Tuple(event_name String, filters Array(Tuple(place UInt32, texts Array(String))), is_ended Bool, ends Array(Tuple(log String, partition UInt32, counted_below UInt64))))')) AS m)
    ) AS meter ON seen.event_name = meter.event_name
    WHERE arrayAll(f -> has(tupleElement(f, 'texts'), seen.texts[tupleElement(f, 'place')]), meter.filters)
    GROUP BY event_name, texts, log_id, log_partition
  ) AS reach ON e.event_name = reach.event_name AND e.log_id = reach.log_id AND e.log_partition = reach.log_partition
    AND arrayMap((k, place) -> if(mapContains(e.properties, k)
      AND has(JSONExtract({narrowTexts:String}, 'Array(String)'), concat(toString(place), '+', e.properties[k])),
      concat(toString(place), '+', e.properties[k]), ''), JSONExtract({narrowKeys:String}, 'Array(String)'),
      arrayEnumerate(JSONExtract({narrowKeys:String}, 'Array(String)'))) = reach.texts
  WHERE e.tenant_id = {tenantId:String} AND e.environment_id = {environmentId:String}
    AND e.event_name IN {narrowNames:Array(String)}
    AND e.received_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
    AND e.received_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
    AND e.appended_at >= fromUnixTimestamp64Milli({appendedFromMs:Int64}, 'UTC')
    AND e.log_partition < {partitionsMax:UInt32} AND e.log_offset < JSONExtract({nextOffsets:String}, 'Array(UInt64)')[
      {partitionsMax:UInt32} * transform(e.log_id, {logs:Array(String)}, {logNumbers:Array(UInt32)}, 0) + e.log_partition + 1]
)
GROUP BY hour_ms
