-- Purpose: the stored events that match the conditions; the caller adds the columns before, and keys, order and limit after.
-- Grain:   one row per event: duplicates of an id are in event_duplicates_v1.
-- Params:  tenantId, environmentId.
--          eventNames, sources: empty for all, or one text.
--          isOfAll: events of all customers; else those of customerKeys.
--          eventIds, offsets: empty for all, or one id and its offset in the log, because an id alone has no index.
--          filters: JSON [{key, values}] of properties.
--          hasEnds, endNames, endOffsets: where an archived meter stopped counting, by partition (`<partition>:<log>`).
--          fromMs, toMs: half-open range of the events' own timestamps.
--          events: the table, or the events as they count under corrections (corrected-events.sql).
-- Index:   events_v1 by tenant, environment, event_name, customer, timestamp; log_offset_range for one id.
FROM $events$ AS e
WHERE e.tenant_id = {tenantId:String} AND e.environment_id = {environmentId:String}
  AND (empty({eventNames:Array(String)}) OR e.event_name IN {eventNames:Array(String)})
  AND ({isOfAll:Bool} OR e.customer_key IN {customerKeys:Array(String)})
  AND (empty({offsets:Array(UInt64)}) OR e.log_offset IN {offsets:Array(UInt64)})
  AND (empty({eventIds:Array(String)}) OR e.event_id IN {eventIds:Array(String)})
  AND (empty({sources:Array(String)}) OR e.source IN {sources:Array(String)})
  AND e.timestamp >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND e.timestamp < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
  AND ({hasFilters:Bool} = false OR arrayAll(f -> mapContains(e.properties, tupleElement(f, 'key'))
    AND has(tupleElement(f, 'values'), e.properties[tupleElement(f, 'key')]),
    JSONExtract({filters:String}, 'Array(Tuple(key String, values Array(String)))')))
  AND ({hasEnds:Bool} = false OR e.log_offset < arrayElement({endOffsets:Array(UInt64)},
    indexOf({endNames:Array(String)}, concat(toString(e.log_partition), ':', toString(e.log_id)))))
