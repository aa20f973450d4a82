import type { InstantMs, Interval } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { windowCountAtLeast } from '../../domain/calendar/usage-windows.js';
import { buildInvoice } from '../../domain/invoice/build-invoice.js';
import type { LineSelectionInputs, InvoiceResult } from '../../domain/invoice/invoice.js';
import type { LineUsage } from '../../domain/usage/line-usage.js';
import { selectLines } from '../../domain/invoice/select-lines.js';
import { requiredUsage } from '../../domain/invoice/required-usage.js';
import type { SubscriptionTerms } from '../../domain/invoice/subscription-terms.js';
import type { CustomerRow } from '../../customers/customers-store.js';
import { findFeaturesOfMeters } from '../../catalog/features/features-store.js';
import type { LineItemRow } from '../../subscriptions/subscriptions-store.js';
import { readUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { findEntitlementSources } from './entitlement-sources.js';
import type { Grouping } from '../../usage/usage-grouping.js';
import { findMetering, lineItemFrom, type Metering } from '../../subscriptions/lines/line-items.js';
import { askOfLine, usageOfLine, type LineUsageQuery } from './line-usage-query.js';
import type { SubscriptionReading } from '../../subscriptions/read-subscriptions.js';
import { readUsage } from '../../usage/read-usage.js';
import { Refusal, isRefusal } from '../../records/refusal.js';
import { subscriptionCommitmentFrom } from '../../subscriptions/lines/stored-commitments.js';
import { termsFromRow } from '../../subscriptions/create/subscription-request.js';
import { usageOfCustomers, type UsageReadDependencies } from '../../usage/usage-customers.js';
import { BUCKETS_MAX } from '../../usage/usage-range.js';

/** Which invoice is computed. */
export type InvoiceQuery = {
  readonly reading: SubscriptionReading;
  /** A billing period, or an interval that the reader checked. */
  readonly period: Interval;
  /** Those of the subscription that take part. */
  readonly lineItems: readonly LineItemRow[];
  readonly grouping: Grouping;
  readonly hideZeroCharges: boolean;
  readonly now: InstantMs;
};

export type ComputedInvoice = {
  readonly customer: CustomerRow;
  readonly metering: Metering;
  readonly invoice: InvoiceResult;
  /** Events received before it are included. */
  readonly dataUntil: InstantMs | null;
};

type LinesWish = {
  readonly customer: CustomerRow;
  readonly plan: LineSelectionInputs;
  readonly metering: Metering;
  readonly grouping: Grouping;
};

/** The usage lines of an invoice, each with what it needs to know. */
function askedLines({ plan, metering }: LinesWish): readonly LineUsageQuery[] {
  const lineItems = new Map(plan.lineItems.map((lineItem) => [lineItem.id, lineItem]));
  return requiredUsage(plan).map((usagePlan) => {
    const lineItem = assertPresent(lineItems.get(usagePlan.lineItemId), 'a planned line item');
    const meter = metering.readings.get(lineItem.meter?.id ?? '');
    return {
      plan: usagePlan,
      lineItem,
      meter: assertPresent(meter, 'a definition of the meter'),
      grid: plan.subscription,
    };
  });
}

/** Reads the usage of all lines at once; a line without events has an entry of 0. */
async function readLineUsage(
  dependencies: UsageReadDependencies,
  caller: Caller,
  wish: LinesWish,
): Promise<ReadonlyMap<string, LineUsage> | Refusal> {
  const { customer, grouping } = wish;
  const lines = askedLines(wish);
  const answers = await readUsage(
    dependencies.usage,
    { environment: caller.environment, customers: usageOfCustomers([customer]) },
    lines.map((line) => askOfLine(line, grouping)),
  );
  if (answers === null) {
    const message = 'the lines have more than 1000000 buckets and groups';
    return new Refusal('validation_error', `${message}; take fewer groups or a shorter period`);
  }
  const features = await featuresOf(dependencies, caller, grouping.hasFeature ? lines : []);
  return new Map(
    lines.map((line, index) => {
      const featureId = features.get(line.meter.meterId) ?? '';
      const usage = usageOfLine(line, answers[index] ?? [], { ...grouping, featureId });
      return [line.lineItem.id, usage];
    }),
  );
}

/** The oldest published feature of each meter. */
async function featuresOf(
  { database }: UsageReadDependencies,
  caller: Caller,
  lines: readonly LineUsageQuery[],
): Promise<ReadonlyMap<string, string>> {
  const meterIds = lines.map(({ meter }) => meter.meterId);
  const features = await readUnit({ database }, caller.environment, ({ tx: transaction }) =>
    findFeaturesOfMeters(transaction, meterIds),
  );
  const newestFirst = [...features].reverse();
  return new Map(newestFirst.map((feature) => [feature.meter_id ?? '', feature.id]));
}

/** What decides the charges of a subscription, its commitment included. */
function billedTerms({ subscription, surroundings }: SubscriptionReading): SubscriptionTerms {
  const plan = assertPresent(surroundings.plans.get(subscription.plan_id), 'the plan');
  const commitment = subscriptionCommitmentFrom(subscription, plan);
  return { ...termsFromRow(subscription), commitment };
}

/**
 * Buckets are listed one by one: lines with far too many are refused before. A line may cover more
 * than the interval, where its own billing period is longer.
 */
function lengthRefusal(plan: LineSelectionInputs): Refusal | null {
  const long = selectLines(plan).find(({ lineItem: { meter }, period }) => {
    const size = meter?.bucketSize ?? null;
    return size !== null && windowCountAtLeast(period, size) > BUCKETS_MAX;
  });
  if (long === undefined) return null;
  const { id } = long.lineItem.price;
  const message = `the period of price ${id} has more than ${BUCKETS_MAX} buckets of its meter`;
  return new Refusal('validation_error', `${message}; take a shorter one`);
}

function planOf(
  { reading, period, lineItems }: InvoiceQuery,
  metering: Metering,
  entitlements: LineSelectionInputs['entitlements'],
): LineSelectionInputs {
  const { prices } = reading.surroundings;
  return {
    subscription: billedTerms(reading),
    period,
    referencePoint: 'period_end',
    lineItems: lineItems.map((row) => lineItemFrom(row, prices, metering)),
    alreadyInvoiced: [],
    entitlements,
  };
}

/**
 * The invoice of a subscription as it stands now. Usage of all lines is read at once; nothing is
 * stored.
 * @throws DependencyError when a database fails: a failure never becomes an amount.
 */
export async function computeInvoice(
  dependencies: UsageReadDependencies,
  caller: Caller,
  wish: InvoiceQuery,
): Promise<ComputedInvoice | Refusal> {
  const { reading, grouping, hideZeroCharges, now } = wish;
  const { subscription, surroundings } = reading;
  const found = surroundings.customers.get(subscription.customer_id);
  const customer = assertPresent(found, 'the customer of the subscription');
  // The watermark is read before anything is counted, so that it holds for every count.
  const [dataUntil, metering, entitlements] = await Promise.all([
    dependencies.dataUntil(),
    findMetering(dependencies, caller, wish.lineItems),
    readUnit(dependencies, caller.environment, ({ tx: transaction }) =>
      findEntitlementSources(transaction, subscription),
    ),
  ]);
  const plan = planOf(wish, metering, entitlements);
  const refusal = lengthRefusal(plan);
  if (refusal !== null) return refusal;
  const usage = await readLineUsage(dependencies, caller, { customer, plan, metering, grouping });
  if (isRefusal(usage)) return usage;
  // No invoice is stored yet, and coupons, taxes and wallets cannot be made yet.
  const none = { priorCommitments: [], coupons: [], taxes: [], wallets: [] };
  const invoice = buildInvoice({ ...plan, ...none, usage, asOfMs: now, hideZeroCharges });
  return { customer, metering, invoice, dataUntil };
}
