-- Tells the aggregator processes of a log that one joins or leaves, so that they redistribute partitions at once. Params: :log.
SELECT pg_notify('aggregator_sharing', :log)
