import type { SeededRandom } from '../../../../harness/seeded-random.js';
import {
  couponsWrittenDown,
  drawAdjustments,
  type DrawnAdjustments,
} from '../../../../../billing-api/testing/oracle-adjustments.js';
import { drawPrice } from '../../../../../billing-api/testing/oracle-prices.js';
import {
  drawLines,
  linesWrittenDown,
  type DrawnLine,
} from '../../../../../billing-api/testing/oracle-lines.js';
import type { StoredEvent } from '../../../../../billing-api/testing/write-usage-minutes.js';
import { fixedItem, plainSubscription } from '../../plain-subscription.js';
import { divide, multiply, toText } from '../../../usage-oracle/fraction.js';
import { exact, roundTo, whole } from '../../exact.js';
import { ownPeriodOf } from '../../own-periods.js';
import { instantOf, localOf } from '../../local-time.js';
import { rowAt } from '../../period-ledger.js';
import type {
  EntitlementSource,
  Price,
  Subscription,
  TaxRate,
  Wallet,
} from '../../subscription.js';
import { assertPresent } from '../../../../../runtime/failure.js';

/*
 * Random plans and lives of subscriptions in two forms: for the oracle, and as what the interface
 * is asked to make. All subscriptions of a group live under one clock, which is turned in steps.
 */

const DAY_MS = 86_400_000;
export const BEGIN = Date.parse('2026-01-01T00:00:00Z');
export const MONTHS_MAX = 24;
const ZONES = ['UTC', 'UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/Sao_Paulo'];

/** Most are monthly and in usd. */
const PERIODS = ['MONTHLY', 'MONTHLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'] as const;
const CURRENCIES = ['usd', 'usd', 'jpy', 'kwd'] as const;
const SMALLEST = { usd: '0.01', jpy: '1', kwd: '0.001' } as const;

type DrawnFee = {
  readonly price: Price;
  readonly cadence: 'ADVANCE' | 'ARREAR';
  /** May be longer than that of the plan. */
  readonly period: (typeof PERIODS)[number];
};

/** A plan: usage lines with their meters and entitlements, and fixed fees. */
export type DrawnPlan = {
  readonly currency: (typeof CURRENCIES)[number];
  readonly period: (typeof PERIODS)[number];
  readonly lines: readonly DrawnLine[];
  readonly fees: readonly DrawnFee[];
  readonly commitment: Subscription['commitment'];
};

/** What an event is, and the step of the clock from which on it is known. */
export type LateEvent = StoredEvent & { readonly knownMs: number };

/** What is done with a subscription at a step, after everything due is done. */
export type DrawnAction = { readonly step: number; readonly type: 'pause' | 'resume' | 'cancel' };

export type DrawnLife = {
  readonly plan: number;
  readonly start: number;
  readonly zone: string;
  readonly cycle: Subscription['cycle'];
  readonly anchor: number | null;
  readonly proration: Subscription['proration'];
  readonly threshold: string | null;
  readonly trialDays: number | null;
  /** Prepaid ones of the customer; no two have the same rate. */
  readonly wallets: readonly Wallet[];
  readonly adjustments: DrawnAdjustments;
  readonly events: readonly LateEvent[];
  readonly actions: readonly DrawnAction[];
};

export type DrawnGroup = {
  readonly plans: readonly DrawnPlan[];
  readonly lives: readonly DrawnLife[];
  /** Instants to which the clock is turned, in order. */
  readonly steps: readonly number[];
  readonly tenantTaxes: readonly TaxRate[];
};

/** A true-up of every half hour of a year would be most of the work of a run. */
const isOfShortBuckets = ({ meter }: DrawnLine): boolean =>
  meter.bucketSize === '30MIN' || meter.bucketSize === 'HOUR';

const hasMixedPeriods = ({ fees, period }: DrawnPlan): boolean =>
  fees.some((fee) => fee.period !== period);

function drawPlan(random: SeededRandom, mayCommit: boolean): DrawnPlan {
  const isCommitted = mayCommit && random.below(4) === 0;
  const period = random.pick(PERIODS);
  const hasLongFees = period === 'MONTHLY' && random.chance(0.3);
  return {
    currency: random.pick(CURRENCIES),
    period,
    lines: drawLines(random, mayCommit && !isCommitted).map((line) =>
      isOfShortBuckets(line) && period !== 'MONTHLY' ? { ...line, commitment: null } : line,
    ),
    fees: Array.from({ length: random.below(3) }, () => ({
      price: drawPrice(random),
      cadence: random.pick(['ADVANCE', 'ARREAR']),
      period: hasLongFees ? random.pick(['MONTHLY', 'QUARTERLY', 'ANNUAL'] as const) : period,
    })),
    commitment: isCommitted
      ? { amount: '20', factor: '1.5', hasTrueUp: random.chance(0.5), duration: null }
      : null,
  };
}

/** Steps of days to weeks, also of an hour behind a month's end, when drafts wait. */
function drawSteps(random: SeededRandom): readonly number[] {
  const end = BEGIN + random.between(2, MONTHS_MAX) * 30 * DAY_MS;
  const steps: number[] = [];
  let at = BEGIN;
  while (at < end) {
    at += random.pick([1, 6, 15, 15, 31, 31, 62]) * DAY_MS + random.below(DAY_MS);
    steps.push(at);
    if (random.chance(0.3)) steps.push((at += random.between(1, 180) * 60_000));
  }
  return steps;
}

/** No two events have the same time, which would leave their order open; one in four comes late. */
function drawEvents(
  random: SeededRandom,
  { start, steps }: { readonly start: number; readonly steps: readonly number[] },
): readonly LateEvent[] {
  const end = steps.at(-1) ?? start;
  const count = random.pick([0, 10, 40, 80]);
  const drawn = Array.from({ length: count }, (_, index) => {
    const fromMs = start - 20 * DAY_MS;
    const atMs = Math.floor((fromMs + random.below(end - fromMs)) / 60_000) * 60_000 + index;
    const lateMs = random.chance(0.25) ? random.pick([1, 20, 45]) * DAY_MS : 0;
    const n = random.pick(['1', '2.5', '7', '12', '0.333', 'none', '-3']);
    const host = random.pick(['a', 'b', null]);
    return {
      at: new Date(atMs).toISOString(),
      receivedAt: new Date(atMs + lateMs).toISOString(),
      knownMs: atMs + lateMs,
      properties: { n, ...(host === null ? {} : { host }) },
    };
  });
  return drawn.filter(({ knownMs }) => knownMs <= end);
}

/** One pause from one step to a later one, or an end; or nothing. */
function drawActions(random: SeededRandom, first: number, count: number): readonly DrawnAction[] {
  const free = count - first;
  if (free < 4) return [];
  const step = first + 1 + random.below(free - 2);
  if (random.chance(0.2)) return [{ step, type: 'cancel' }];
  if (random.chance(0.3)) return [];
  const until = Math.min(step + random.between(1, 3), count - 1);
  return [
    { step, type: 'pause' },
    { step: until, type: 'resume' },
  ];
}

/** None, one or two prepaid wallets, of which one may pay usage alone. */
function drawWallets(random: SeededRandom): readonly Wallet[] {
  return ['1', random.pick(['0.5', '2.5', '0.01'])]
    .slice(0, random.pick([0, 0, 1, 2]))
    .map((conversionRate, index) => ({
      id: `wallet-${index}`,
      createdAt: index,
      conversionRate,
      creditBalance: random.pick(['3', '40.5', '1000']),
      allowed: random.pick(['ALL', 'USAGE'] as const),
    }));
}

/** Coupons in the currency of the plan: the amount of the smallest is one unit of it. */
function couponsIn(
  currency: DrawnPlan['currency'],
  coupons: DrawnAdjustments['coupons'],
): DrawnAdjustments['coupons'] {
  return coupons.map((coupon) =>
    coupon.discount.type === 'fixed' && coupon.discount.amountOff === '0.01'
      ? { ...coupon, discount: { type: 'fixed', amountOff: SMALLEST[currency] } }
      : coupon,
  );
}

type DrawnDates = Pick<DrawnLife, 'start' | 'cycle' | 'anchor' | 'proration' | 'trialDays'>;

/** Where its periods lie. */
function drawDates(random: SeededRandom, plan: DrawnPlan, [now = BEGIN]: readonly number[]) {
  const proration = hasMixedPeriods(plan)
    ? 'none'
    : random.pick(['none', 'none', 'create_prorations'] as const);
  // A subscription with prorations cannot begin in the past: it begins where the clock stands.
  const start = proration === 'none' ? BEGIN + random.below(40 * DAY_MS) : now;
  const cycle = random.chance(0.2) ? 'calendar' : 'anniversary';
  const anchorDays = plan.period === 'MONTHLY' ? 25 : 85;
  const hasAnchor = cycle === 'anniversary' && random.chance(0.2);
  const dates: DrawnDates = {
    start,
    cycle,
    proration,
    anchor: hasAnchor ? start + random.below(anchorDays * DAY_MS) : null,
    trialDays: random.chance(0.15) ? random.pick([1, 14, 30, 45]) : null,
  };
  return dates;
}

/** The end of a coupon of one period is that of the first period only where this is whole. */
const isFirstPeriodWhole = ({ cycle, anchor, trialDays }: DrawnDates): boolean =>
  cycle === 'anniversary' && anchor === null && trialDays === null;

function drawLife(
  random: SeededRandom,
  { plans, steps }: Pick<DrawnGroup, 'plans' | 'steps'>,
): DrawnLife {
  const plan = random.below(plans.length);
  const drawn = assertPresent(plans[plan], 'a plan');
  const dates = drawDates(random, drawn, steps);
  const { start } = dates;
  const hasThreshold = plan === 0 && random.chance(0.7);
  const first = steps.findIndex((at) => at > start);
  const { coupons, taxes } = drawAdjustments(random, 3);
  return {
    plan,
    ...dates,
    zone: random.pick(ZONES),
    threshold: hasThreshold ? random.pick(['5', '20', '60']) : null,
    wallets: drawWallets(random),
    adjustments: {
      coupons: couponsIn(drawn.currency, coupons).filter(
        ({ cadence }) => cadence !== 'one period' || isFirstPeriodWhole(dates),
      ),
      taxes: taxes.filter(({ level }) => level !== 'tenant'),
    },
    events: drawEvents(random, { start, steps }),
    actions: hasThreshold || first < 0 ? [] : drawActions(random, first, steps.length),
  };
}

/** A group of subscriptions to four plans; thresholds are on the first, without commitments. */
export function drawGroup(random: SeededRandom, count: number): DrawnGroup {
  const plans = [0, 1, 2, 3].map((index) => drawPlan(random, index > 0));
  const steps = drawSteps(random);
  const { taxes } = drawAdjustments(random, 3);
  return {
    plans,
    steps,
    lives: Array.from({ length: count }, () => drawLife(random, { plans, steps })),
    tenantTaxes: taxes.filter(({ level }) => level === 'tenant'),
  };
}

/**
 * What create_prorations makes of the allowance of a plan in a short first period: the share of the
 * time, in whole units (docs/domain.md 22.2). Nothing where the period is whole.
 */
function firstAllowance(
  plain: Subscription,
  source: EntitlementSource,
): readonly EntitlementSource[] {
  const row = rowAt(plain, 0);
  const isScaled = plain.proration === 'create_prorations' && plain.trialEnd === null;
  if (!isScaled || row === null || source.limit === null) return [];
  if (source.reset !== null && source.reset !== plain.length.period) return [];
  const { start, end, full } = ownPeriodOf(plain, row, 1);
  if (end - start === full.end - full.start) return [];
  const share = divide(whole(end - start), whole(full.end - full.start));
  const limit = toText(roundTo(0, multiply(exact(source.limit), share)));
  const id = `${source.id} of the first period`;
  return [{ ...source, id, scope: 'SUBSCRIPTION', parentId: source.id, limit, start, end }];
}

/** So many days after the start by the wall clock (docs/domain.md 22.4). */
function trialEndOf({ start, zone, trialDays }: DrawnLife): number | null {
  return trialDays === null ? null : instantOf(zone, localOf(zone, start) + trialDays * DAY_MS);
}

/** A life as the oracle has it, before anything has happened and without events. */
export function lifeWrittenDown(life: DrawnLife, group: DrawnGroup): Subscription {
  const plan = group.plans[life.plan];
  if (plan === undefined) throw new Error('a life without a plan');
  const { start } = life;
  const length = { period: plan.period, count: 1 };
  const { items, meters } = linesWrittenDown(plan.lines, start, length);
  const fees = plan.fees.map(({ price, cadence, period }, index) =>
    fixedItem(`fee${index}`, {
      createdAt: items.length + index,
      start,
      price,
      cadence,
      length: { period, count: 1 },
    }),
  );
  const plain: Subscription = {
    ...plainSubscription,
    currency: plan.currency,
    length,
    wallets: life.wallets,
    trialEnd: trialEndOf(life),
    start,
    zone: life.zone,
    cycle: life.cycle,
    givenAnchor: life.anchor,
    proration: life.proration,
    commitment: plan.commitment,
    meters,
    taxes: [...life.adjustments.taxes, ...group.tenantTaxes],
    items: [...items, ...fees],
    features: plan.lines.flatMap(({ entitlement }, line) =>
      entitlement === null
        ? []
        : [{ id: `feature${line}`, meterId: `meter${line}`, sources: [entitlement] }],
    ),
  };
  const firstPeriodEnd = rowAt(plain, 0)?.end ?? start;
  const features = plain.features.map((feature) => ({
    ...feature,
    sources: [...feature.sources, ...feature.sources.flatMap((one) => firstAllowance(plain, one))],
  }));
  return {
    ...plain,
    features,
    coupons: couponsWrittenDown(life.adjustments, { start, firstPeriodEnd }),
  };
}
