-- Number of the newest catalog of meters. One row.
SELECT version FROM catalog_counter
