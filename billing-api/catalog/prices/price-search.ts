import type { InstantMs } from '../../../contract/instant.js';
import type { PriceBillingPeriod } from '../../domain/price/price-cadence.js';
import type { PriceOwnerType } from '../../domain/price/price.js';
import { MemberReader } from '../../records/member-rules.js';
import type { DateTime, SearchBody } from '../../records/record-dto.js';
import { type Refusal } from '../../records/refusal.js';
import {
  endsAfter,
  isBefore,
  isEqual,
  isOfPlansAsked,
  isOneOfAsked,
  type Conditions,
} from '../../records/conditions.js';
import type { ColumnName } from '../../records/resource.js';
import type { PRICES } from '../../declarations/catalog/price.resource.js';

export interface SearchPricesBody extends SearchBody {
  /** @maxItems 1000 */
  price_ids?: string[];
  /** @maxItems 1000 */
  plan_ids?: string[];
  entity_type?: PriceOwnerType;
  /** @maxItems 1000 */
  entity_ids?: string[];
  subscription_id?: string;
  parent_price_id?: string;
  /** @maxItems 1000 */
  meter_ids?: string[];
  /** @maxItems 7 */
  billing_periods?: PriceBillingPeriod[];
  /** Also prices that have ended. @default false */
  allow_expired_prices?: boolean;
  start_date_lt?: DateTime;
}

/** The conditions of a price search beside the common ones; ended prices only on request. */
export function priceConditions(
  body: SearchPricesBody,
  now: InstantMs,
): Conditions<ColumnName<(typeof PRICES)['columns']>> | Refusal {
  const reader = new MemberReader();
  const startBeforeMs = reader.instant('start_date_lt', body.start_date_lt);
  return (
    reader.refusal() ?? [
      ...isOneOfAsked('id', body.price_ids),
      ...isOfPlansAsked(body.plan_ids),
      ...isEqual('entity_type', body.entity_type),
      ...isOneOfAsked('entity_id', body.entity_ids),
      ...(body.subscription_id === undefined ? [] : isEqual('entity_type', 'SUBSCRIPTION')),
      ...isEqual('entity_id', body.subscription_id),
      ...isEqual('parent_price_id', body.parent_price_id),
      ...isOneOfAsked('meter_id', body.meter_ids),
      ...isOneOfAsked('billing_period', body.billing_periods),
      ...(body.allow_expired_prices === true ? [] : endsAfter('end_date', now)),
      ...isBefore('start_date', startBeforeMs),
    ]
  );
}
