-- Raw events that the log appended before this instant are removed, or are about to be (0028); null while all are kept.
SELECT raw_events_begin_at() AS begin_at
