-- Remembers which ClickHouse server and database hold what is counted, unless that is known. Params: :identity.
INSERT INTO clickhouse_identity (identity) VALUES (:identity) ON CONFLICT DO NOTHING
