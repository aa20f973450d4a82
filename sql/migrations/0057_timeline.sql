-- Entries in the order in which they were written, also those of one instant.
ALTER TABLE audit_entries ADD COLUMN entry_number bigint GENERATED ALWAYS AS IDENTITY;

-- What happened to a customer, in order: entries of records that name the customer, or a subscription.
CREATE INDEX audit_entries_of_customer ON audit_entries (tenant_id, environment_id, (after ->> 'customer_id'), created_at, entry_number)
  WHERE after ->> 'customer_id' IS NOT NULL;
CREATE INDEX audit_entries_of_subscription ON audit_entries (tenant_id, environment_id, (after ->> 'subscription_id'), created_at, entry_number)
  WHERE after ->> 'subscription_id' IS NOT NULL;
