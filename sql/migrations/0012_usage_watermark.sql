-- An invoice is computed from one snapshot that also says how far the events count (docs/domain.md 13.1). These columns say
-- nothing about any tenant. Programs of the previous release may run.
GRANT SELECT (log, partition, next_offset, intent_end) ON aggregator_checkpoints TO minutebook_app;
