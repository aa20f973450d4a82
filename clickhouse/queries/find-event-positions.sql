-- Purpose: where in the log the events with these ids were counted.
-- Grain:   one row per id that was counted; none for the others.
-- Params:  idHashes: hexadecimal hashes of event keys, joined by commas.
-- Index:   event_ids_v1 by log, partition, id_hash: the first two have few values, so each is searched by the third.
SELECT lower(hex(id_hash)) AS hash, log_id, log_partition, log_offset, record_index,
  toString(toUnixTimestamp64Milli(appended_at)) AS appended_ms
FROM event_ids_v1
WHERE id_hash IN (SELECT toFixedString(unhex(arrayJoin(splitByChar(',', {idHashes:String}))), 16))
