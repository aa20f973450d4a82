import type { MigrationExpectations } from '../../runtime/testing/expected-tables.js';

/** Up to where the log of release 1 is counted. */
const COUNTED_ENDS =
  '[{"log": "pg-0123456789abcdef", "partition": 0, "countedBelow": 3}, ' +
  '{"log": "pg-0123456789abcdef", "partition": 1, "countedBelow": 1}]';

/** What the migrations after release 1 do to its rows. One that is not listed changes none. */
export const SQL_MIGRATION_EXPECTATIONS: MigrationExpectations = {
  '0006_plan_versions.sql': { addedColumns: { plans: { version: '1' } } },
  '0016_last_batch_append.sql': {
    addedColumns: { aggregator_checkpoints: { last_batch_appended_at: null } },
  },
  '0019_groups.sql': {
    addedColumns: { customers: { version: '1' }, features: { version: '1' } },
  },
  '0020_users_and_keys.sql': {
    addedColumns: {
      tenants: { limits: null },
      environments: { status: 'published', metadata: '{}', created_by: null, updated_by: null },
      secrets: { metadata: '{}', created_by: null, updated_by: null, last_used_at: null },
    },
  },
  '0021_products.sql': {
    addedColumns: { subscription_line_items: { addon_association_id: null } },
  },
  '0028_event_retention.sql': {
    addedColumns: { meter_backfills: { counts_from: null, raw_events_begin: null } },
  },
  '0031_held_catalog.sql': { addedColumns: { catalog_counter: { held_until: null } } },
  '0045_price_starts.sql': { addedColumns: { prices: { is_start_given: 'false' } } },
  '0056_line_changes.sql': {
    addedColumns: { subscription_line_items: { predecessor_id: null, is_settled: 'false' } },
  },
  '0059_subscription_notices.sql': {
    addedColumns: { subscriptions: { renewal_noticed_end: null } },
  },
  '0062_export_files.sql': {
    addedColumns: {
      tasks: { counted: null, manifest_url: null, late_count: null, file_sha256: null },
    },
  },
  '0064_grouped_invoicing.sql': {
    addedColumns: { invoice_line_items: { subscription_id: null } },
  },
  '0067_phases.sql': {
    addedColumns: { subscription_line_items: { subscription_phase_id: null } },
  },
  '0070_late_lines.sql': {
    addedColumns: { subscription_line_items: { is_late: 'false' } },
  },
  '0078_continued_commitments.sql': {
    addedColumns: { subscriptions: { commitment_start: null, commitment_origin_id: null } },
  },
  '0080_kept_charges.sql': {
    addedColumns: { subscription_line_items: { charged_until: null } },
  },
  '0091_allowances_of_first_periods.sql': {
    addedColumns: { entitlements: { is_of_first_period: 'false' } },
  },
  '0082_held_events.sql': {
    addedRows: {
      counted_events: [{ is_only: 'true', received_before: null }],
      unregistered_programs: [{ is_only: 'true', seen_at: null }],
    },
  },
  '0086_absorbed_credits.sql': { addedColumns: { invoice_line_items: { absorbed: null } } },
  '0103_credited_charges.sql': {
    addedColumns: {
      credit_notes: { wallet_transaction_id: null },
      credit_note_lines: {
        subscription_line_item_id: null,
        net_amount: null,
        tax_amount: null,
        period_start: null,
        period_end: null,
      },
    },
  },
  '0115_late_usage.sql': {
    addedColumns: {
      invoice_line_items: { late_invoice_id: null },
      plans: { late_usage: null },
      subscriptions: { late_usage: null },
    },
    addedRows: {
      late_usage_looks: [
        { is_only: 'true', looked_at: null, ends: COUNTED_ENDS, previous_ends: COUNTED_ENDS },
      ],
      settings: [
        {
          tenant_id: 'tenant_a',
          environment_id: 'env_a',
          key: 'late_usage',
          value: '{"policy": "report"}',
          updated_at: '2026-12-01T00:00:00+00:00',
          updated_by: 'minutebook',
        },
        {
          tenant_id: 'tenant_a',
          environment_id: 'env_a_dev',
          key: 'late_usage',
          value: '{"policy": "report"}',
          updated_at: '2026-12-01T00:00:00+00:00',
          updated_by: 'minutebook',
        },
        {
          tenant_id: 'tenant_b',
          environment_id: 'env_b',
          key: 'late_usage',
          value: '{"policy": "report"}',
          updated_at: '2026-12-01T00:00:00+00:00',
          updated_by: 'minutebook',
        },
      ],
    },
  },
  '0096_price_maximum.sql': { addedColumns: { prices: { max_amount: null } } },
  '0058_bucket_pricing.sql': { addedColumns: { meters: { bucket_pricing: null } } },
  '0060_gateways.sql': { addedColumns: { connections: { endpoint_url: null } } },
  '0073_invoice_sync.sql': { addedColumns: { connections: { sync_config: null } } },
  '0092_looks_for_signals.sql': { addedColumns: { connections: { signals_read_until: null } } },
  '0063_password_changes.sql': { addedColumns: { user_passwords: { changed_at: null } } },
  '0035_occasions.sql': { addedColumns: { meters: { record_version: '1' } } },
};
