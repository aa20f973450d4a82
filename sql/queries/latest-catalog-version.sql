-- The newest catalog version. One row.
SELECT version FROM catalog_counter
