-- Data as release 1 leaves it, in every table and column: what later migrations must carry over (migrations.db.test.ts).
-- Written once; a later release adds a file of its own and leaves this one as it is.

INSERT INTO tenants (id, name, status, metadata, billing_details, created_at, updated_at) VALUES
  ('tenant_a', 'Acme Cloud', 'active', '{"tier": "gold"}', '{"email": "billing@acme.example"}', '2026-01-02T03:04:05.006Z', '2026-01-03T00:00:00Z'),
  ('tenant_b', 'Borealis', 'trialing', '{}', '{}', '2026-02-01T00:00:00Z', '2026-02-01T00:00:00Z');
INSERT INTO environments (id, tenant_id, name, type, created_at, updated_at) VALUES
  ('env_a', 'tenant_a', 'Production', 'production', '2026-01-02T03:04:05.006Z', '2026-01-02T03:04:05.006Z'),
  ('env_a_dev', 'tenant_a', 'Sandbox', 'development', '2026-01-02T03:04:06Z', '2026-01-02T03:04:06Z'),
  ('env_b', 'tenant_b', 'Production', 'production', '2026-02-01T00:00:00Z', '2026-02-01T00:00:00Z');
INSERT INTO users (id, tenant_id, name, email, type, roles, metadata, status, created_at, created_by, updated_at, updated_by) VALUES
  ('user_a', 'tenant_a', 'Ada', 'ada@acme.example', 'user', '{super_admin}', '{"team": "core"}', 'published',
   '2026-01-02T03:04:05.006Z', 'user_a', '2026-01-02T03:04:05.006Z', 'user_a'),
  ('user_b', 'tenant_b', NULL, NULL, 'service_account', '{event_ingestor,metrics_reader}', '{}', 'archived',
   '2026-02-01T00:00:00Z', NULL, '2026-02-01T00:00:00Z', NULL);
INSERT INTO secrets (id, tenant_id, environment_id, user_id, name, type, key_hash, display_id, expires_at, status, created_at, updated_at) VALUES
  ('secret_a', 'tenant_a', 'env_a', 'user_a', 'First key', 'private_key', decode(repeat('0a', 32), 'hex'), 'sk_abc…wxyz', NULL, 'published',
   '2026-01-02T03:04:05.006Z', '2026-01-02T03:04:05.006Z'),
  ('secret_b', 'tenant_b', 'env_b', 'user_b', 'Revoked', 'publishable_key', decode(repeat('0b', 32), 'hex'), 'pk_abc…wxyz', '2027-02-01T00:00:00Z',
   'deleted', '2026-02-01T00:00:00Z', '2026-02-02T00:00:00Z');

INSERT INTO event_logs (log_id, partition_count, created_at) VALUES ('pg-0123456789abcdef', 2, '2026-01-02T03:04:05.006Z');
INSERT INTO event_log_partitions (partition, start_offset) VALUES (0, 1), (1, 0);
INSERT INTO event_log_batches (partition, end_offset, record_count, appended_at, lengths, payload) VALUES
  (0, 3, 2, '2026-01-05T00:00:00.001Z', '1:2,1:2', 'k{}l{}'),
  (1, 1, 1, '2026-01-05T00:00:00.002Z', '1:4', 'm"ü"x');

INSERT INTO meters (id, tenant_id, environment_id, name, event_name, filters, aggregation_type, aggregation_field, aggregation_expression,
  aggregation_group_by, aggregation_multiplier, bucket_size, reset_usage, version, read_version, backfill, metadata, status, created_at,
  created_by, updated_at, updated_by) VALUES
  ('meter_a', 'tenant_a', 'env_a', 'API calls', 'api_call', '[{"key": "region", "values": ["eu", "us"]}]', 'SUM_WITH_MULTIPLIER', 'bytes', NULL,
   NULL, 0.000000001, NULL, 'BILLING_PERIOD', 2, 1, NULL, '{"team": "core"}', 'published', '2026-01-02T04:00:00Z', 'user_a',
   '2026-01-03T04:00:00Z', 'user_a'),
  ('meter_b', 'tenant_a', 'env_a', 'Peak seats', 'seats', '[]', 'MAX', NULL, 'a + b', 'region', NULL, 'HOUR', 'BILLING_PERIOD', 1, 1,
   '{"status": "completed"}', '{}', 'archived', '2026-01-02T04:00:00Z', NULL, '2026-01-02T04:00:00Z', NULL);
INSERT INTO features (id, tenant_id, environment_id, name, description, lookup_key, type, meter_id, group_id, unit_singular, unit_plural,
  reporting_unit, alert_settings, metadata, status, created_at, created_by, updated_at, updated_by) VALUES
  ('feat_a', 'tenant_a', 'env_a', 'API calls', 'Calls of the API', 'api-calls', 'metered', 'meter_a', 'group_a', 'call', 'calls',
   '{"unit_singular": "kilocall"}', '{"alert_enabled": true}', '{"shown": "yes"}', 'published', '2026-01-02T04:00:00Z', 'user_a',
   '2026-01-02T04:00:00Z', 'user_a'),
  ('feat_b', 'tenant_a', 'env_a', 'Single sign-on', NULL, 'sso', 'boolean', NULL, NULL, NULL, NULL, NULL, NULL, '{}', 'published',
   '2026-01-02T04:00:00Z', NULL, '2026-01-02T04:00:00Z', NULL);
INSERT INTO plans (id, tenant_id, environment_id, name, description, lookup_key, display_order, price_sequence, metadata, status, created_at,
  created_by, updated_at, updated_by) VALUES
  ('plan_a', 'tenant_a', 'env_a', 'Pro', 'For teams', 'pro', 1, 2, '{"shown": "yes"}', 'published', '2026-01-02T04:00:00Z', 'user_a',
   '2026-01-02T04:00:00Z', 'user_a'),
  ('plan_b', 'tenant_a', 'env_a', 'Basic', NULL, NULL, NULL, 0, '{}', 'archived', '2026-01-02T04:00:00Z', NULL, '2026-01-02T04:00:00Z', NULL);
INSERT INTO prices (id, tenant_id, environment_id, entity_type, entity_id, type, billing_model, billing_cadence, billing_period,
  billing_period_count, invoice_cadence, amount, currency, meter_id, filter_values, tier_mode, tiers, transform_quantity, min_quantity,
  trial_period_days, display_name, description, lookup_key, parent_price_id, group_id, price_unit_type, price_unit, price_unit_id,
  price_unit_amount, price_unit_tiers, conversion_rate, sequence, start_date, end_date, commitment_time_buckets, metadata, status, created_at,
  created_by, updated_at, updated_by) VALUES
  ('price_a', 'tenant_a', 'env_a', 'PLAN', 'plan_a', 'USAGE', 'TIERED', 'RECURRING', 'MONTHLY', 1, 'ARREAR', NULL, 'usd', 'meter_a',
   '{"region": ["eu"]}', 'SLAB', '[{"up_to": 100, "unit_amount": "0.10"}, {"up_to": null, "unit_amount": "0.000000001"}]', NULL, NULL, NULL,
   'API calls', NULL, NULL, NULL, NULL, 'FIAT', NULL, NULL, NULL, NULL, NULL, 1, '2026-01-02T04:00:00Z', NULL, NULL, '{}', 'published',
   '2026-01-02T04:00:00Z', NULL, '2026-01-02T04:00:00Z', NULL),
  ('price_b', 'tenant_a', 'env_a', 'SUBSCRIPTION', 'subs_a', 'FIXED', 'PACKAGE', 'RECURRING', 'ANNUAL', 2, 'ADVANCE',
   12345678901234567890.123456789, 'jpy', NULL, NULL, NULL, NULL, '{"divide_by": 100, "round": "up"}', 5, 14, 'Seats', 'Per 100 seats', 'seats',
   'price_a', 'group_a', 'CUSTOM', 'token', 'unit_a', 7.5, '[{"up_to": null, "unit_amount": "7.5"}]', 0.01, 2, '2026-01-02T04:00:00Z',
   '2026-12-31T00:00:00Z', '[{"id": "bucket_a", "start": {"hour": 9, "minute": 0}, "end": {"hour": 17, "minute": 0}}]', '{"shown": "no"}',
   'published', '2026-01-02T04:00:00Z', 'user_a', '2026-01-02T04:00:00Z', 'user_a');
INSERT INTO customers (id, tenant_id, environment_id, external_id, name, email, contact, address_line1, address_line2, address_city,
  address_state, address_postal_code, address_country, timezone, metadata, status, created_at, created_by, updated_at, updated_by) VALUES
  ('cust_a', 'tenant_a', 'env_a', 'acme', 'Acme', 'it@acme.example', '+49 1', 'Street 1', 'Floor 2', 'Berlin', 'BE', '10115', 'DE',
   'Europe/Berlin', '{"crm": "17"}', 'published', '2026-01-02T04:00:00Z', 'user_a', '2026-01-02T04:00:00Z', 'user_a'),
  ('cust_b', 'tenant_b', 'env_b', 'ö"''', 'Ö', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{}', 'archived',
   '2026-02-01T00:00:00Z', NULL, '2026-02-01T00:00:00Z', NULL);
INSERT INTO subscriptions (id, tenant_id, environment_id, customer_id, invoicing_customer_id, plan_id, parent_subscription_id, lookup_key,
  subscription_status, subscription_type, currency, billing_cadence, billing_cycle, billing_period, billing_period_count, billing_anchor,
  start_date, end_date, current_period_start, current_period_end, customer_timezone, collection_method, payment_behavior, payment_terms,
  gateway_payment_method_id, auto_invoice_threshold, proration_behavior, synced_price_sequence, cancel_at, cancel_at_period_end, cancelled_at,
  trial_start, trial_end, commitment_amount, commitment_duration, overage_factor, enable_true_up, pause_status, active_pause_id, version,
  metadata, status, created_at, created_by, updated_at, updated_by) VALUES
  ('subs_a', 'tenant_a', 'env_a', 'cust_a', 'cust_a', 'plan_a', 'subs_parent', 'main', 'trialing', 'standalone', 'usd', 'RECURRING',
   'anniversary', 'MONTHLY', 1, '2026-01-31T10:00:30Z', '2026-01-31T10:00:30Z', '2027-01-31T10:00:30Z', '2026-01-31T10:00:30Z',
   '2026-02-28T10:00:30Z', 'Europe/Berlin', 'charge_automatically', 'default_active', '30 NET', 'pm_1', 1000.5, 'create_prorations', 2,
   '2026-12-31T00:00:00Z', true, '2026-06-01T00:00:00Z', '2026-01-31T10:00:30Z', '2026-02-14T10:00:30Z', 1200.25, 'ANNUAL', 1.5, true,
   'scheduled', 'pause_a', 3, '{"crm": "18"}', 'published', '2026-01-31T10:00:30Z', 'user_a', '2026-02-01T00:00:00Z', 'user_a');
INSERT INTO subscription_line_items (id, tenant_id, environment_id, subscription_id, customer_id, entity_type, entity_id, price_id, price_type,
  meter_id, meter_display_name, plan_display_name, display_name, currency, quantity, billing_period, billing_period_count, invoice_cadence,
  start_date, end_date, commitment_type, commitment_amount, commitment_quantity, commitment_duration, commitment_overage_factor,
  commitment_true_up_enabled, commitment_windowed, metadata, status, created_at, created_by, updated_at, updated_by) VALUES
  ('line_a', 'tenant_a', 'env_a', 'subs_a', 'cust_a', 'plan', 'plan_a', 'price_a', 'USAGE', 'meter_a', 'API calls', 'Pro', 'API calls', 'usd',
   0, 'MONTHLY', 1, 'ARREAR', '2026-01-31T10:00:30Z', NULL, 'amount', 500.5, NULL, 'MONTHLY', 1.25, true, false, '{}', 'published',
   '2026-01-31T10:00:30Z', NULL, '2026-01-31T10:00:30Z', NULL),
  ('line_b', 'tenant_a', 'env_a', 'subs_a', 'cust_a', 'subscription', 'subs_a', 'price_b', 'FIXED', NULL, NULL, NULL, 'Seats', 'jpy', 2.5,
   'ANNUAL', 2, 'ADVANCE', '2026-01-31T10:00:30Z', '2026-06-01T00:00:00Z', 'quantity', NULL, 10, NULL, 1, false, true, '{"x": "y"}',
   'archived', '2026-01-31T10:00:30Z', 'user_a', '2026-01-31T10:00:30Z', 'user_a');
INSERT INTO entitlements (id, tenant_id, environment_id, feature_id, feature_type, entity_type, entity_id, parent_entitlement_id, is_enabled,
  is_soft_limit, static_value, usage_limit, usage_reset_period, display_order, start_date, end_date, metadata, status, created_at, created_by,
  updated_at, updated_by) VALUES
  ('ent_a', 'tenant_a', 'env_a', 'feat_a', 'metered', 'PLAN', 'plan_a', NULL, true, false, NULL, 9223372036854775807, 'MONTHLY', 1, NULL, NULL,
   '{}', 'published', '2026-01-02T04:00:00Z', NULL, '2026-01-02T04:00:00Z', NULL),
  ('ent_b', 'tenant_a', 'env_a', 'feat_b', 'static', 'SUBSCRIPTION', 'subs_a', 'ent_a', false, true, 'gold', NULL, NULL, NULL,
   '2026-01-31T10:00:30Z', '2026-06-01T00:00:00Z', '{"x": "y"}', 'deleted', '2026-01-31T10:00:30Z', 'user_a', '2026-01-31T10:00:30Z', 'user_a');
INSERT INTO idempotency_keys (tenant_id, environment_id, key, method, path, body_hash, state, claim_id, claimed_at, answer_status, answer_body,
  answer_headers, expires_at) VALUES
  ('tenant_a', 'env_a', 'key-1', 'POST', '/v1/plans', '\x00ff', 'answered', 'claim_a', '2026-01-31T10:00:30Z', 201, '{"id":"plan_a"}',
   '{"etag":"\"1\""}', '2026-02-01T10:00:30Z'),
  ('tenant_a', 'env_a', 'key-2', 'POST', '/v1/plans', '\x01', 'applied', 'claim_b', '2026-01-31T10:00:30Z', NULL, NULL, NULL, '2026-02-01T10:00:30Z');

UPDATE catalog_counter SET version = 4;
INSERT INTO catalog_versions (version, created_at) VALUES
  (2, '2026-01-02T04:00:00Z'), (3, '2026-01-03T04:00:00Z'), (4, '2026-01-04T04:00:00Z');
UPDATE catalog_versions SET created_at = '2026-01-01T00:00:00Z' WHERE version = 1;
INSERT INTO meter_versions (meter_id, version, tenant_id, environment_id, event_name, filters, aggregation_type, aggregation_field,
  aggregation_expression, aggregation_multiplier, aggregation_group_by, generation, read_generations, activated_in, retired_in, reverts_to,
  unread_since) OVERRIDING SYSTEM VALUE VALUES
  ('meter_a', 1, 'tenant_a', 'env_a', 'api_call', '[]', 'SUM_WITH_MULTIPLIER', 'bytes', NULL, 0.000000001, NULL, 1, '{1,3}', 2, NULL, NULL,
   '2026-01-03T04:00:00.123456Z'),
  ('meter_a', 2, 'tenant_a', 'env_a', 'api_call', '[{"key": "region", "values": ["eu", "us"]}]', 'SUM_WITH_MULTIPLIER', 'bytes', NULL,
   0.000000001, NULL, 4, '{}', 3, NULL, 1, NULL),
  ('meter_b', 1, 'tenant_a', 'env_a', 'seats', '[]', 'MAX', NULL, 'a + b', NULL, 'region', 2, '{2}', 2, 4, NULL, NULL);
SELECT setval(pg_get_serial_sequence('meter_versions', 'generation'), 4);
INSERT INTO aggregator_checkpoints (log, partition, epoch, next_offset, intent_end, catalog_version, min_version, fold_version, digest,
  last_batch_start, last_batch_rows, owner, kept_by, updated_at) VALUES
  ('pg-0123456789abcdef', 0, 7, 3, 5, 4, 4, 1, 'ab12', 1, 2, 'member_a', NULL, '2026-01-05T00:00:01Z'),
  ('pg-0123456789abcdef', 1, 2, 1, NULL, 3, 4, 1, NULL, NULL, NULL, NULL, 'member_a', '2026-01-05T00:00:02Z');
INSERT INTO meter_start_offsets (meter_id, version, log, partition, live_from) VALUES
  ('meter_a', 2, 'pg-0123456789abcdef', 0, 2), ('meter_a', 2, 'pg-0123456789abcdef', 1, 0);
INSERT INTO meter_backfills (meter_id, version, tenant_id, environment_id, status, attempts, claimed_until, events_scanned, events_matched,
  started_at, completed_at, error) VALUES
  ('meter_a', 2, 'tenant_a', 'env_a', 'failed', 3, '2026-01-05T00:00:00.123456Z', 2, 1, '2026-01-03T04:00:00Z', NULL, 'no memory'),
  ('meter_b', 1, 'tenant_a', 'env_a', 'completed', 1, NULL, 5, 5, '2026-01-02T04:00:00Z', '2026-01-02T04:00:01Z', NULL);
INSERT INTO meter_ends (meter_id, log, partition, counted_below) VALUES ('meter_b', 'pg-0123456789abcdef', 0, 3);
INSERT INTO aggregator_members (log, member_id, heartbeat_at, is_leaving) VALUES
  ('pg-0123456789abcdef', 'member_a', '2026-01-05T00:00:00.123456Z', true);
INSERT INTO dead_letter_replays (id, tenant_id, environment_id, log, partition, log_offset, events, replayed_at, replayed_by)
  OVERRIDING SYSTEM VALUE VALUES
  (1, 'tenant_a', 'env_a', 'pg-0123456789abcdef', 1, 9, 2, '2026-01-06T00:00:00Z', 'operator');
SELECT setval(pg_get_serial_sequence('dead_letter_replays', 'id'), 1);
