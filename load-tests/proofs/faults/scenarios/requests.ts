/** Requests of the product as the proxies see them. */
export const REQUESTS = {
  insertEvents: /INSERT.{1,5}INTO.{1,5}events_v1/,
  insertIds: /INSERT.{1,5}INTO.{1,5}event_ids_v1/,
  insertUsage: /INSERT.{1,5}INTO.{1,5}usage_minute_v1/,
  insertDuplicates: /INSERT.{1,5}INTO.{1,5}event_duplicates_v1/,
  raiseGate: /INSERT.{1,5}INTO.{1,5}ingest_gate_v1/,
  selectAny: /SELECT/,
  intend: /SET intent_end = batch/,
  finish: /SET next_offset = batch/,
  take: /SET epoch = /,
  /** The log in Postgres; its statements are prepared under these names. */
  append: /append-\d/,
  read: /read_event_log|\0read\0/,
} as const;
