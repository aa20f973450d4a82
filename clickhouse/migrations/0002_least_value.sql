-- The least value of a minute (MIN). NULL stands for no value: rows that are there, rows of other types and events whose value
-- cannot be read have none, and the function min passes over it. A 0 would be a value, and the least of all.
-- Safe while programs of the previous release run: their inserts name their columns, and leave this one at NULL.
ALTER TABLE usage_minute_v1
  ADD COLUMN IF NOT EXISTS value_min SimpleAggregateFunction(min, Nullable(Decimal(76, 18))) CODEC(ZSTD) AFTER uniques;
