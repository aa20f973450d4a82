-- A credit for unused time that was taken off again: the invoice which it gave back in part was voided, and returned so much less, or
-- the customer's wallet was debited (docs/domain.md 18). Such a credit counts no more against what replaces that invoice.
ALTER TABLE line_credits
  ADD COLUMN absorbed numeric NOT NULL DEFAULT 0 CHECK (absorbed >= 0 AND absorbed <= amount);
-- The same of a credit that an invoice has set off (a line of kind 'credit'); null for nothing.
ALTER TABLE invoice_line_items ADD COLUMN absorbed numeric;
