-- Whether tiers and packages begin anew in every bucket of a meter, or run over the period (docs/domain.md 8.5). Null without buckets, and
-- for meters of earlier releases: these go on pricing every bucket by itself, so that nothing which was agreed costs another amount.
ALTER TABLE meters ADD COLUMN bucket_pricing text CHECK (bucket_pricing IN ('bucket', 'period'));
