-- Purpose: duplicates that differ from the event that counts (docs/domain.md 7.1); the caller adds columns, order and limit.
-- Grain:   one row per duplicate, or several equal ones until the engine has merged them.
-- Params:  tenantId, environmentId; eventIds: none or one; fromMs, toMs: half-open range of receipt.
-- Index:   event_id_bloom, received_range; none by environment: conflicts are rare. Parts of other months are left out, since
--          nothing is appended before it is received, clocks being a day apart at most.
FROM event_duplicates_v1 AS d
WHERE d.is_conflict AND d.tenant_id = {tenantId:String} AND d.environment_id = {environmentId:String}
  AND (empty({eventIds:Array(String)}) OR d.event_id IN {eventIds:Array(String)})
  AND d.received_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND d.received_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
  AND d.appended_at >= fromUnixTimestamp64Milli({fromMs:Int64} - 86400000, 'UTC')
