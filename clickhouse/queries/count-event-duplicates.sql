-- Purpose: how often an id was sent again, and how often with another payload.
-- Grain:   one row.
-- Params:  tenantId, environmentId, eventId; logId, logPartition: where the id was counted. All copies of an id meet in one
--          partition of a log; a log that replaced it may have other partitions.
-- Index:   event_duplicates_v1 by log and partition; a place that was written twice is one duplicate.
SELECT uniqExact(log_id, log_partition, log_offset, record_index) AS duplicates,
  uniqExactIf((log_id, log_partition, log_offset, record_index), is_conflict) AS conflicts
FROM event_duplicates_v1
WHERE (log_partition = {logPartition:UInt32} OR log_id != {logId:String})
  AND tenant_id = {tenantId:String} AND environment_id = {environmentId:String} AND event_id = {eventId:String}
