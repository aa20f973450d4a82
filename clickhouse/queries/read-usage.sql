-- Purpose: event counts of up to a few hundred readings (invoice lines, usage questions) in one round trip.
-- Grain:   one row per reading, time slot, source and combination of property texts.
-- Params:  tenantId, environmentId; customerKeys, or none for all keys but excludedKeys;
--          minutes: JSON [{reading, meter_id, generation, from_s, to_s}], whole UTC minutes, from usage_minute_v1;
--          events: JSON [{reading, event_name, filters, from_ms, to_ms}], exact to the millisecond, from events_v1;
--          fromMs, toMs: bounds of all of them, for the primary key; properties: keys to group by;
--          slotMs: width of a time slot, 0 for none; rowsMax: one row more than the caller accepts.
-- Index:   usage_minute_v1 by tenant, environment, customer, meter, generation, minute; events_v1 by tenant,
--          environment, event_name, customer, hour.
-- Rows of usage_minute_v1 are deltas, so they are summed. The caller asks only for meters whose minutes cover all stored
-- events, so events and minutes tell the same.
WITH
  JSONExtract({minutes:String}, 'Array(Tuple(reading UInt32, meter_id String, generation UInt64, from_s Int64, to_s Int64))')
    AS minute_readings,
  JSONExtract({events:String}, 'Array(Tuple(reading UInt32, event_name String, filters Array(Tuple(key String, values Array(String))), from_ms Int64, to_ms Int64))')
    AS event_readings
SELECT reading, slot_ms, source, texts, sum(counted) AS event_count
FROM
(
  SELECT
    wanted.reading AS reading,
    if({slotMs:Int64} = 0, 0, intDiv(toInt64(u.minute) * 1000, greatest({slotMs:Int64}, 1)) * {slotMs:Int64}) AS slot_ms,
    toString(u.source) AS source,
    CAST([], 'Array(String)') AS texts,
    u.event_count AS counted
  FROM usage_minute_v1 AS u
  INNER JOIN
  (
    SELECT tupleElement(r, 'reading') AS reading, tupleElement(r, 'meter_id') AS meter_id,
      tupleElement(r, 'generation') AS generation, tupleElement(r, 'from_s') AS from_s, tupleElement(r, 'to_s') AS to_s
    FROM (SELECT arrayJoin(minute_readings) AS r)
  ) AS wanted ON u.meter_id = wanted.meter_id AND u.generation = wanted.generation
  WHERE u.tenant_id = {tenantId:String} AND u.environment_id = {environmentId:String}
    AND (empty({customerKeys:Array(String)}) OR u.customer_key IN {customerKeys:Array(String)})
    AND NOT has({excludedKeys:Array(String)}, u.customer_key)
    AND u.meter_id IN (SELECT DISTINCT tupleElement(arrayJoin(minute_readings), 'meter_id'))
    AND u.minute >= toDateTime64(intDiv({fromMs:Int64}, 1000), 0, 'UTC')
    AND u.minute <= toDateTime64(intDiv({toMs:Int64}, 1000), 0, 'UTC')
    AND toInt64(u.minute) >= wanted.from_s AND toInt64(u.minute) < wanted.to_s
  UNION ALL
  SELECT
    wanted.reading AS reading,
    if({slotMs:Int64} = 0, 0,
      intDiv(toUnixTimestamp64Milli(e.timestamp), greatest({slotMs:Int64}, 1)) * {slotMs:Int64}) AS slot_ms,
    toString(e.source) AS source,
    arrayMap(key -> e.properties[key], {properties:Array(String)}) AS texts,
    toUInt64(1) AS counted
  FROM events_v1 AS e
  INNER JOIN
  (
    SELECT tupleElement(r, 'reading') AS reading, tupleElement(r, 'event_name') AS event_name,
      tupleElement(r, 'filters') AS filters,
      tupleElement(r, 'from_ms') AS from_ms, tupleElement(r, 'to_ms') AS to_ms
    FROM (SELECT arrayJoin(event_readings) AS r)
  ) AS wanted ON e.event_name = wanted.event_name
  WHERE e.tenant_id = {tenantId:String} AND e.environment_id = {environmentId:String}
    AND e.event_name IN (SELECT DISTINCT tupleElement(arrayJoin(event_readings), 'event_name'))
    AND (empty({customerKeys:Array(String)}) OR e.customer_key IN {customerKeys:Array(String)})
    AND NOT has({excludedKeys:Array(String)}, e.customer_key)
    AND e.timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
    AND e.timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
    AND toUnixTimestamp64Milli(e.timestamp) >= wanted.from_ms AND toUnixTimestamp64Milli(e.timestamp) < wanted.to_ms
    AND arrayAll(f -> mapContains(e.properties, tupleElement(f, 'key'))
      AND has(tupleElement(f, 'values'), e.properties[tupleElement(f, 'key')]), wanted.filters)
)
GROUP BY reading, slot_ms, source, texts
LIMIT {rowsMax:UInt64}
