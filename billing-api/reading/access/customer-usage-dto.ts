import { plain } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import type { FeatureDto } from '../../declarations/catalog/feature.resource.js';
import { usagePercent } from '../../domain/entitlement/current-usage.js';
import { currentPeriod } from '../../domain/periods/ledger-periods.js';
import { instantToDto, type DateTime, type DecimalText } from '../../records/record-dto.js';
import {
  featureOf,
  limitOf,
  sourcesToDto,
  type EntitlementSourceDto,
} from './customer-entitlements-dto.js';
import type { CustomerUsage, FeatureUsage } from './customer-usage.js';
import type { CustomerAccess } from './load-customer-access.js';

export interface FeatureUsageDto {
  feature: FeatureDto;
  /** Since the last reset. */
  current_usage: DecimalText;
  /** Null for an unlimited feature. */
  total_limit: DecimalText | null;
  is_unlimited: boolean;
  /** Of the limit, rounded half-up to two digits; null for an unlimited feature. */
  usage_percent: DecimalText | null;
  is_enabled: boolean;
  is_soft_limit: boolean;
  /** Null when the usage never begins again at 0. */
  next_usage_reset_at: DateTime | null;
  sources: EntitlementSourceDto[];
}

/** What a customer has used of its metered features. */
export interface CustomerUsageDto {
  customer_id: string;
  /** The earliest start and the latest end of the current billing periods; null without any. */
  period_start: DateTime | null;
  period_end: DateTime | null;
  features: FeatureUsageDto[];
  /** Events received before this instant are included. */
  data_until: DateTime | null;
}

function usageToDto(
  { entitlement, usage, resetsAtMs }: FeatureUsage,
  access: CustomerAccess,
): FeatureUsageDto {
  const { effective } = entitlement;
  const limit = limitOf(entitlement);
  return {
    feature: featureOf(entitlement, access),
    current_usage: plain(usage),
    total_limit: limit === null ? null : plain(limit),
    is_unlimited: limit === null,
    usage_percent: limit === null ? null : plain(usagePercent(usage, limit)),
    is_enabled: effective !== null,
    is_soft_limit: effective?.isSoftLimit ?? false,
    next_usage_reset_at: instantToDto(resetsAtMs),
    sources: sourcesToDto(entitlement, access),
  };
}

export function customerUsageToDto({
  access,
  features,
  now,
  dataUntil,
}: CustomerUsage): CustomerUsageDto {
  const periods = access.subscriptions.map(({ ledger }) => currentPeriod(ledger, now));
  const isNone = periods.length === 0;
  const start = Math.min(...periods.map(({ startMs }) => startMs));
  const end = Math.max(...periods.map(({ endMs }) => endMs));
  return {
    customer_id: access.customer.id,
    period_start: isNone ? null : formatInstant(start),
    period_end: isNone ? null : formatInstant(end),
    features: features.map((feature) => usageToDto(feature, access)),
    data_until: instantToDto(dataUntil),
  };
}
