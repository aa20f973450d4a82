-- In which directions invoices are synced with a provider, {"direction": ["push", "pull"]}; null: in none (docs/domain.md 17.6).
ALTER TABLE connections ADD COLUMN sync_config jsonb;
