-- Notes that every event which was received before an instant is in ClickHouse (0082). Params: :before.
SELECT note_counted_events(:before::timestamptz)
