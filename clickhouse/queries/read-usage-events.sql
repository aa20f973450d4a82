-- Purpose: events one by one, exact to the millisecond: edges inside a minute, narrowed meters, properties to group by.
-- Grain:   one row per event and reading; the caller counts per reading, slot, source and texts.
-- Params:  tenantId, environmentId; customerKeys, or none for all keys but excludedKeys (JSON list);
--          events: JSON [{reading, event_name, filters, from_ms, to_ms}]; fromMs, toMs: bounds of all of them, for the primary
--          key; properties: keys to group by; slotMs: width of a time slot, 0 for none.
-- Index:   events_v1 by tenant, environment, event_name, customer, hour.
-- The caller asks only for meters whose minutes cover all stored events, so events and minutes tell the same.
WITH JSONExtract({events:String}, 'Array(Tuple(reading UInt32, event_name String, filters Array(Tuple(key String, values Array(String))), from_ms Int64, to_ms Int64))')
  AS event_readings
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
  AND NOT has(JSONExtract({excludedKeys:String}, 'Array(String)'), e.customer_key)
  AND e.timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND e.timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
  AND toUnixTimestamp64Milli(e.timestamp) >= wanted.from_ms AND toUnixTimestamp64Milli(e.timestamp) < wanted.to_ms
  AND arrayAll(f -> mapContains(e.properties, tupleElement(f, 'key'))
    AND has(tupleElement(f, 'values'), e.properties[tupleElement(f, 'key')]), wanted.filters)
