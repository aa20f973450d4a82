-- Removes a process of ingest that holds nothing and accepts nothing any more. Params: :process.
DELETE FROM ingest_processes WHERE id = :process
