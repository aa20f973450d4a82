-- Purpose: events that retention has removed, by hour of receipt; an hour of a day of append was perhaps counted more than once, and
--          the greatest count is right.
-- Grain:   one row per hour.
-- Params:  tenantId, environmentId; fromMs, toMs: whole hours; beforeDay: the day of append from which on all are kept.
-- Index:   expired_events_v1 by tenant, environment; none by receipt.
SELECT hour_ms, sum(events) AS expired
FROM
(
  SELECT toInt64(received_hour) * 1000 AS hour_ms, max(event_count) AS events
  FROM expired_events_v1
  WHERE tenant_id = {tenantId:String} AND environment_id = {environmentId:String}
    AND append_day < toDate32({beforeDay:String})
    AND received_hour >= toDateTime64(intDiv({fromMs:Int64}, 1000), 0, 'UTC')
    AND received_hour < toDateTime64(intDiv({toMs:Int64}, 1000), 0, 'UTC')
  GROUP BY event_name, hour, received_hour, append_day
)
GROUP BY hour_ms
