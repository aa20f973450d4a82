-- Lines that take the unused part of an earlier charge off an invoice (docs/domain.md 25.3).
ALTER TABLE invoice_line_items DROP CONSTRAINT invoice_line_items_kind_check;
ALTER TABLE invoice_line_items ADD CONSTRAINT invoice_line_items_kind_check
  CHECK (kind IN ('charge', 'overage', 'true_up', 'credit'));

-- A subscription whose plan is changed at the instant at which it began was never charged for any time.
ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_check;
ALTER TABLE subscriptions ADD CONSTRAINT subscriptions_end CHECK (end_date >= start_date);
