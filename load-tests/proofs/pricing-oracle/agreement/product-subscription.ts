import { ZERO, decimalOf } from '../../../../contract/number/decimal.js';
import type {
  CommitmentTerms,
  LineCommitment as ProductLineCommitment,
} from '../../../../billing-api/domain/commitment/commitment.js';
import type { EntitlementSource as ProductSource } from '../../../../billing-api/domain/entitlement/entitlement.js';
import type { LineItem as ProductLineItem } from '../../../../billing-api/domain/invoice/line-item.js';
import type { LineMeter } from '../../../../billing-api/domain/usage/line-meter.js';
import type { SubscriptionTerms } from '../../../../billing-api/domain/invoice/subscription-terms.js';
import type {
  Commitment,
  EntitlementSource,
  Feature,
  LineCommitment,
  LineItem,
  Subscription,
} from '../subscription.js';
import { productLedger } from './product-ledger.js';
import { productModel, productPrice } from './product-price.js';

export function productTerms(subscription: Subscription): SubscriptionTerms {
  const { currency, commitment } = subscription;
  return {
    ...productLedger(subscription),
    currency,
    prorationBehavior: subscription.proration,
    commitment: commitment && {
      amount: decimalOf(commitment.amount),
      overageFactor: decimalOf(commitment.factor),
      isTrueUpEnabled: commitment.hasTrueUp,
      ...(commitment.hasTrueUp && decimalOf(commitment.factor).equals(1)
        ? { isMinimum: true }
        : {}),
      duration: commitment.duration,
      planId: 'plan',
      planDisplayName: 'Plan',
    },
  };
}

function productMeter({ meters }: Subscription, meterId: string): LineMeter {
  const meter = meters.get(meterId);
  if (meter === undefined) throw new Error(`no meter ${meterId}`);
  return {
    id: meterId,
    version: 1,
    displayName: 'Meter',
    eventName: meter.eventName,
    aggregationType: meter.type,
    eventValue: { field: null, expression: null, multiplier: null },
    filters: meter.filters,
    resetUsage: meter.reset,
    bucketSize: meter.bucketSize,
    groupBy: meter.groupBy,
    ...(meter.pricesPeriod === true ? { isPricedOverPeriod: true } : {}),
  };
}

function productCommitmentTerms(commitment: Commitment): CommitmentTerms {
  return {
    type: commitment.type,
    value: decimalOf(commitment.value),
    overageFactor: decimalOf(commitment.factor),
    isTrueUpEnabled: commitment.hasTrueUp,
  };
}

function productCommitment({
  own,
  duration,
  isWindowed,
  timeBuckets,
}: LineCommitment): ProductLineCommitment {
  return {
    terms: own && productCommitmentTerms(own),
    isWindowed,
    duration,
    timeBuckets: timeBuckets.map(({ id, start, end, price, commitment }) => ({
      id,
      startMinute: start,
      endMinute: end,
      terms: productCommitmentTerms(commitment),
      price: { ...productModel(price), id: `price of ${id}` },
    })),
  };
}

export function productItem(subscription: Subscription, item: LineItem): ProductLineItem {
  const isUsage = item.type === 'USAGE';
  return {
    id: item.id,
    predecessorId: isUsage ? (item.predecessorIds.at(-1) ?? null) : null,
    createdAtMs: item.createdAt,
    ...(item.isLate === undefined ? {} : { isLate: item.isLate }),
    entityType: 'plan',
    entityId: 'plan',
    displayName: 'Line',
    planDisplayName: 'Plan',
    quantity: isUsage ? ZERO : decimalOf(item.quantity),
    startMs: item.start,
    endMs: item.end,
    price: productPrice(subscription, item),
    meter: isUsage ? productMeter(subscription, item.meterId) : null,
    commitment: isUsage && item.commitment !== null ? productCommitment(item.commitment) : null,
  };
}

const EVER = { start: 0, end: null };

/** One source of the product for every association of an addon, with the dates of both. */
function productSources(
  { id: featureId, meterId }: Feature,
  source: EntitlementSource,
): readonly ProductSource[] {
  const associations = source.scope === 'ADDON' ? source.associations : [EVER];
  return associations.flatMap(({ start, end }) => {
    const validity = {
      startMs: Math.max(start, source.start ?? start),
      endMs: Math.min(end ?? Infinity, source.end ?? Infinity),
    };
    if (validity.startMs >= validity.endMs) return [];
    return [
      {
        entitlementId: source.id,
        parentEntitlementId: source.parentId,
        featureId,
        featureType: 'metered' as const,
        meterId,
        isEnabled: source.isEnabled,
        isSoftLimit: false,
        usageLimit: source.limit === null ? null : decimalOf(source.limit),
        usageResetPeriod: source.reset,
        staticValue: null,
        createdAtMs: source.createdAt,
        validity,
      },
    ];
  });
}

export function productEntitlements({ features }: Subscription): readonly ProductSource[] {
  return features.flatMap((feature) =>
    feature.sources.flatMap((source) => productSources(feature, source)),
  );
}
