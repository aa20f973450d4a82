-- A line item that ends inside a period without prorations (docs/domain.md 24.5): how far the draft that charges that period in advance charges it.
-- Programs of the previous release may run: they charge it up to its end.
ALTER TABLE subscription_line_items ADD COLUMN charged_until timestamptz(3);
