-- Purpose: whether any of the time ranges asked for contains an hour from which retention has removed raw events.
-- Grain:   one row, with 0 events when they do not.
-- Params:  tenantId, environmentId; ranges: JSON [{event_name, from_ms, to_ms}] of the events' own timestamps, whose ends lie on whole
--          hours; isAnyName: whether events of all names are asked for, and the names of the ranges are empty; names: those of the
--          ranges; beforeDay: the day of append from which on all are kept.
-- Index:   expired_events_v1 by tenant, environment, event_name, hour.
SELECT count() AS hours, min(toInt64(x.hour)) * 1000 AS first_ms, max(toInt64(x.hour)) * 1000 AS last_ms
FROM expired_events_v1 AS x
INNER JOIN
(
  SELECT tupleElement(r, 'event_name') AS event_name, tupleElement(r, 'from_ms') AS from_ms, tupleElement(r, 'to_ms') AS to_ms
  FROM (SELECT arrayJoin(JSONExtract({ranges:String}, 'Array(Tuple(event_name String, from_ms Int64, to_ms Int64))')) AS r)
) AS asked ON if({isAnyName:Bool}, '', toString(x.event_name)) = asked.event_name
WHERE x.tenant_id = {tenantId:String} AND x.environment_id = {environmentId:String}
  AND ({isAnyName:Bool} OR x.event_name IN {names:Array(String)})
  AND x.append_day < toDate32({beforeDay:String})
  AND toInt64(x.hour) * 1000 >= asked.from_ms AND toInt64(x.hour) * 1000 < asked.to_ms
