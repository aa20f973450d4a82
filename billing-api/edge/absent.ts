/**
 * Names of optional enumerations. An empty text means that the member is absent (docs/domain.md
 * 3.1), as it does for references, whose names end in `_id`.
 */
const ENUMERATIONS = new Set([
  'type',
  'billing_model',
  'billing_cadence',
  'billing_period',
  'billing_cycle',
  'bucket_size',
  'collection_method',
  'commitment_duration',
  'commitment_type',
  'data_type',
  'direction',
  'entity_type',
  'feature_type',
  'invoice_cadence',
  'operator',
  'order',
  'payment_behavior',
  'payment_terms',
  'price_unit_type',
  'proration_behavior',
  'reset_usage',
  'round',
  'scope',
  'status',
  'subscription_status',
  'tax_rate_status',
  'tax_rate_type',
  'tier_mode',
  'usage_reset_period',
  'window_size',
]);

/** Whether a member of a body or query counts as one that was not sent. */
export function isAbsent(name: string, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return value === '' && (ENUMERATIONS.has(name) || name.endsWith('_id'));
}
