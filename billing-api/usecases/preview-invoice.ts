import { formatInstant, type InstantMs, type Interval } from '../../contract/instant.js';
import { assertPresent } from '../../runtime/failure.js';
import { currentPeriod, periodContaining } from '../domain/calendar/billing-periods.js';
import { buildInvoice } from '../domain/invoice/build-invoice.js';
import type { InvoicePlanInputs, InvoiceResult, PlannedLine } from '../domain/invoice/invoice.js';
import type { LineUsage } from '../domain/invoice/line-usage.js';
import { planLines } from '../domain/invoice/plan-lines.js';
import type { SubscriptionTerms } from '../domain/subscription.js';
import type { CustomerRow } from '../store/customers.js';
import { findFeaturesOfMeters } from '../store/features.js';
import type { LineItemRow, SubscriptionRow } from '../store/subscriptions.js';
import { readAs } from '../store/transaction.js';
import { subjectOf } from '../store/usage/usage-question.js';
import type { Caller } from './caller.js';
import { findEntitlementSources } from './entitlement-sources.js';
import { readGroups, usageOfLine, viewsOfLine, type Grouping } from './invoice-grouping.js';
import { filtersOfPrice, findMetering, lineItemFrom, type Metering } from './line-items.js';
import { MemberReader } from './member-rules.js';
import { scopeOf } from './read-meter-usage.js';
import { readViews, type UsageAsk } from './read-views.js';
import { readSubscription, type SubscriptionReading } from './read-subscriptions.js';
import { isRefusal, Refusal } from './refusal.js';
import { subscriptionCommitmentFrom } from './stored-commitments.js';
import { termsFromRow } from './subscription-request.js';
import { usageOfCustomers, type UsageReading } from './usage-customers.js';

export type PreviewRequest = {
  readonly subscription_id: string;
  readonly period_start?: string | undefined;
  readonly period_end?: string | undefined;
  readonly hide_zero_charges_line_items?: boolean | undefined;
  readonly group_by?: readonly string[] | undefined;
};

export type InvoicePreview = {
  readonly subscription: SubscriptionRow;
  readonly customer: CustomerRow;
  readonly reading: SubscriptionReading;
  readonly invoice: InvoiceResult;
  readonly computedAtMs: InstantMs;
  readonly dataUntil: InstantMs | null;
};

type Wish = { readonly period: Interval; readonly grouping: Grouping };

type Previewed = {
  readonly terms: SubscriptionTerms;
  readonly hasFixedLines: boolean;
};

/**
 * What is wrong with an interval. A fixed charge is scaled by its share of one billing period, so
 * an interval over more than one has no share; usage is counted over any interval.
 */
function intervalProblem(interval: Interval, { terms, hasFixedLines }: Previewed): string | null {
  if (!hasFixedLines) return null;
  const own = periodContaining(terms, interval.startMs);
  if (own !== null && interval.endMs <= own.endMs) return null;
  const { startMs, endMs } = currentPeriod(terms, interval.startMs);
  const example = `${formatInstant(startMs)} to ${formatInstant(endMs)}`;
  return `lies not within one billing period, as fixed prices need; take ${example} or a part of it`;
}

/** The interval of a preview: the current period, or what the request names instead. */
export function readPreviewPeriod(
  reader: MemberReader,
  request: Pick<PreviewRequest, 'period_start' | 'period_end'>,
  previewed: Previewed & { readonly now: InstantMs },
): Interval {
  const current = currentPeriod(previewed.terms, previewed.now);
  const startMs = reader.instant('period_start', request.period_start) ?? current.startMs;
  const endMs = reader.instant('period_end', request.period_end) ?? current.endMs;
  const interval = { startMs, endMs };
  if (endMs <= startMs) reader.note('period_end', 'is not later than period_start');
  else if (request.period_start !== undefined || request.period_end !== undefined) {
    const problem = intervalProblem(interval, previewed);
    reader.note('period_start', problem);
    reader.note('period_end', problem);
  }
  return interval;
}

function wishFrom(
  request: PreviewRequest,
  { subscription, surroundings }: SubscriptionReading,
  now: InstantMs,
): Wish | Refusal {
  const reader = new MemberReader();
  const isFixed = ({ price_id: id }: LineItemRow): boolean =>
    surroundings.prices.get(id)?.type === 'FIXED';
  const hasFixedLines = surroundings.lineItems.some(isFixed);
  const terms = termsFromRow(subscription);
  const period = readPreviewPeriod(reader, request, { terms, hasFixedLines, now });
  const grouping = readGroups(reader, request.group_by ?? []);
  return reader.refusal() ?? { period, grouping };
}

/** What to ask for a usage line. */
function askOf(line: PlannedLine, { metering, grouping }: LinesWish): UsageAsk {
  const meterId = assertPresent(line.lineItem.meter, 'the meter of a usage line').id;
  const meter = assertPresent(metering.readings.get(meterId), 'a definition of the meter');
  return {
    subject: subjectOf(meter),
    scope: scopeOf(meter, line.period, null),
    narrowedBy: filtersOfPrice(line.lineItem),
    sources: null,
    views: viewsOfLine(grouping),
  };
}

type LinesWish = {
  readonly customer: CustomerRow;
  readonly plan: InvoicePlanInputs;
  readonly metering: Metering;
  readonly grouping: Grouping;
};

/** A meter with buckets is priced bucket by bucket (domain.md 8.5), which nothing here does yet. */
function bucketRefusal(lines: readonly PlannedLine[], metering: Metering): Refusal | null {
  const bucketed = lines.find(({ lineItem }) => {
    const reading = metering.readings.get(lineItem.meter?.id ?? '');
    return reading !== undefined && reading.bucketSize !== null;
  });
  if (bucketed === undefined) return null;
  const { meter, price } = bucketed.lineItem;
  return new Refusal(
    'invalid_operation',
    `meter ${meter?.id ?? ''} of price ${price.id} has bucket_size; pricing by bucket is not available yet`,
  );
}

/** Commitments and allowances change what usage costs; nothing here prices them yet. */
function adjustedRefusal({
  subscription,
  lineItems,
  entitlements,
}: InvoicePlanInputs): Refusal | null {
  const isCommitted =
    subscription.commitment !== null || lineItems.some(({ commitment }) => commitment !== null);
  const isEntitled = entitlements.some(({ meterId }) => meterId !== null);
  if (!isCommitted && !isEntitled) return null;
  const what = isCommitted ? 'a commitment' : 'an entitlement';
  const message = `the subscription has ${what}, which invoices do not price yet`;
  return new Refusal('invalid_operation', message);
}

/** Reads the usage of all lines at once; a line without events has an entry of 0. */
async function readUsage(
  dependencies: UsageReading,
  caller: Caller,
  wish: LinesWish,
): Promise<ReadonlyMap<string, LineUsage> | Refusal> {
  const { customer, grouping } = wish;
  const lines = planLines(wish.plan).filter(({ lineItem }) => lineItem.price.type === 'USAGE');
  const refusal = bucketRefusal(lines, wish.metering) ?? adjustedRefusal(wish.plan);
  if (refusal !== null) return refusal;
  const answers = await readViews(
    dependencies.usage,
    { environment: caller.environment, customers: usageOfCustomers([customer]) },
    lines.map((line) => askOf(line, wish)),
  );
  if (answers === null) {
    return new Refusal('validation_error', 'group_by: there are more than 1000000 groups');
  }
  const features = await featuresOf(dependencies, caller, grouping.hasFeature ? lines : []);
  return new Map(
    lines.map((line, index) => {
      const featureId = features.get(line.lineItem.meter?.id ?? '') ?? '';
      return [line.lineItem.id, usageOfLine(answers[index] ?? [], { ...grouping, featureId })];
    }),
  );
}

/** The oldest published feature of each meter. */
async function featuresOf(
  { database }: UsageReading,
  caller: Caller,
  lines: readonly PlannedLine[],
): Promise<ReadonlyMap<string, string>> {
  const meterIds = lines.flatMap(({ lineItem }) => lineItem.meter?.id ?? []);
  const features = await readAs(database, caller.environment, (transaction) =>
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

function isPreviewable(subscription: SubscriptionRow): boolean {
  const { subscription_status: status } = subscription;
  return status === 'active' || status === 'trialing';
}

/** POST /invoices/preview: the invoice of a period as it stands now; nothing is stored. */
export async function previewInvoice(
  dependencies: UsageReading,
  caller: Caller,
  request: PreviewRequest,
): Promise<InvoicePreview | Refusal> {
  const now = dependencies.clock.now();
  const reading = await readSubscription(dependencies, caller, request.subscription_id);
  if (isRefusal(reading)) return reading;
  const { subscription, surroundings } = reading;
  if (!isPreviewable(subscription)) {
    return new Refusal(
      'invalid_operation',
      `the subscription is ${subscription.subscription_status}`,
    );
  }
  const wish = wishFrom(request, reading, now);
  if (isRefusal(wish)) return wish;
  const customer = surroundings.customers.get(subscription.customer_id);
  const owner = assertPresent(customer, 'the customer of the subscription');
  const dataUntil = await dependencies.dataUntil();
  const metering = await findMetering(dependencies, caller, surroundings.lineItems);
  const entitlements = await readAs(dependencies.database, caller.environment, (transaction) =>
    findEntitlementSources(transaction, subscription),
  );
  const plan: InvoicePlanInputs = {
    subscription: billedTerms(reading),
    period: wish.period,
    referencePoint: 'period_end',
    lineItems: surroundings.lineItems.map((row) =>
      lineItemFrom(row, surroundings.prices, metering),
    ),
    alreadyInvoiced: [],
    entitlements,
  };
  const { grouping } = wish;
  const usage = await readUsage(dependencies, caller, {
    customer: owner,
    plan,
    metering,
    grouping,
  });
  if (isRefusal(usage)) return usage;
  const hideZeroCharges = request.hide_zero_charges_line_items ?? false;
  const invoice = buildInvoice({
    ...plan,
    usage,
    asOfMs: now,
    priorCommitments: [],
    coupons: [],
    taxes: [],
    wallets: [],
    hideZeroCharges,
  });
  return { subscription, customer: owner, reading, invoice, computedAtMs: now, dataUntil };
}
