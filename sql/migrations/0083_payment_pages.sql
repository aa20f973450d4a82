-- Pages of a gateway where a payer pays (docs/domain.md 17.8). While the payment has a payment_url, its page may be paid.
-- Programs of the previous release may run: they open no pages.
ALTER TABLE payments ADD COLUMN success_url text;
ALTER TABLE payments ADD COLUMN cancel_url text;
-- The page, as the gateway calls it.
ALTER TABLE payments ADD COLUMN gateway_page_id text;
CREATE INDEX payments_of_page ON payments (tenant_id, environment_id, gateway_page_id) WHERE gateway_page_id IS NOT NULL;
-- An invoice is paid once: it has one page at a time.
CREATE UNIQUE INDEX payments_open_page ON payments (tenant_id, environment_id, destination_id)
  WHERE payment_url IS NOT NULL AND destination_type = 'INVOICE';
