-- Who owns the partitions of a log and how far each is. Grain: one row a partition, by its number. Params: :log.
SELECT owner, kept_by, next_offset FROM aggregator_checkpoints WHERE log = :log ORDER BY partition
