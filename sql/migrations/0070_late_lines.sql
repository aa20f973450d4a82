-- A line item that was added to a period that runs (docs/domain.md 13.3): the invoice that charges that period in
-- advance was made without it, also where the line begins with the period.
ALTER TABLE subscription_line_items ADD COLUMN is_late boolean NOT NULL DEFAULT false;
