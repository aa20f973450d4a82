-- Purpose: hours of the events' own time in which retention has removed events, so that they are not recounted.
-- Grain:   one row per environment, event name and hour.
-- Params:  fromMs, toMs: whole hours.
-- Index:   none by hour alone; the table has a row for an hour of a name.
SELECT DISTINCT tenant_id, environment_id, event_name, toInt64(hour) * 1000 AS hour_ms
FROM expired_events_v1
WHERE hour >= toDateTime64(intDiv({fromMs:Int64}, 1000), 0, 'UTC')
  AND hour < toDateTime64(intDiv({toMs:Int64}, 1000), 0, 'UTC')
