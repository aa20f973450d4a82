import { createSeededRandom, type SeededRandom } from '../../../harness/seeded-random.js';
import { multiply, toText } from '../../usage-oracle/fraction.js';
import { advance, monthsOf, type BillingPeriod } from '../billing-grid.js';
import { exact, sum } from '../exact.js';
import { priceInvoice } from '../invoice.js';
import { minorDigitsOf } from '../money.js';
import { firstBilledStart, rowAt, runningRow, type LedgerRow } from '../period-ledger.js';
import type {
  LineCommitment,
  LineItem,
  Subscription,
  SubscriptionCommitment,
  UsageItem,
} from '../subscription.js';
import { randomCoupons, randomTaxes, randomWallets, roundedText } from './random-adjustments.js';
import { randomDuration, randomLineCommitment } from './random-commitment.js';
import { randomFeatures } from './random-entitlements.js';
import { randomEvents } from './random-events.js';
import { edgesOf, randomHistory, randomTrialEnd } from './random-history.js';
import { randomFixedItems, randomMetered, type Outline } from './random-items.js';
import { randomFactor, randomPositive } from './random-numbers.js';
import { randomTheme, type Theme } from './random-theme.js';
import { randomInstantIn, randomScene, randomStart } from './random-times.js';

const DAY_MS = 86_400_000;
const LONGEST_DAYS: Readonly<Record<BillingPeriod, number>> = {
  DAILY: 1,
  WEEKLY: 7,
  MONTHLY: 31,
  QUARTERLY: 92,
  HALF_YEARLY: 184,
  ANNUAL: 366,
};

const CURRENCIES = ['usd', 'usd', 'eur', 'jpy', 'kwd', 'clf'];

export type RandomCase = {
  /** With all of its history; the items with all of their dates. */
  readonly subscription: Subscription;
};

function randomFrame(random: SeededRandom, { periods }: Theme): Subscription {
  const length = { period: random.pick(periods), count: random.pick([1, 1, 1, 1, 2, 3]) };
  const scene = randomScene(random);
  const start = randomStart(random, scene, length);
  const longestMs = LONGEST_DAYS[length.period] * length.count * DAY_MS;
  const cycle = random.chance(0.35) ? 'calendar' : 'anniversary';
  const hasAnchor = cycle === 'anniversary' && random.chance(0.4);
  const laterAnchor = randomInstantIn(random, { start, end: start + Math.round(longestMs * 1.3) });
  return {
    start,
    end: null,
    trialEnd: null,
    history: [],
    zone: scene.zone,
    currency: random.pick(CURRENCIES),
    length,
    cycle,
    givenAnchor: hasAnchor ? laterAnchor : null,
    proration: random.pick(['create_prorations', 'none']),
    commitment: null,
    items: [],
    meters: new Map(),
    features: [],
    coupons: [],
    taxes: [],
    wallets: [],
    events: [],
  };
}

/** As many rows of the ledger as are asked for, fewer where the subscription ends. */
function firstRows(subscription: Subscription, count: number): readonly LedgerRow[] {
  const rows = Array.from({ length: count }, (_, index) => rowAt(subscription, index));
  return rows.filter((row) => row !== null);
}

/** An `end_date` in one of the rows as they would be without pauses. */
function randomEnd(random: SeededRandom, frame: Subscription, rowCount: number): number | null {
  if (random.chance(0.7)) return null;
  const row = random.pick(firstRows(frame, rowCount));
  const instant = random.chance(0.3) ? row.end : randomInstantIn(random, row);
  return instant > frame.start ? instant : row.end;
}

/** Where commitments of a longer duration end inside of the rows (docs/domain.md 11.2). */
function windowEndsOf(
  subscription: Subscription,
  periods: readonly LedgerRow[],
): readonly number[] {
  if (monthsOf(subscription.length) === null) return [];
  const from = firstBilledStart(subscription);
  const ends = [1, 2, 4].map((times) =>
    advance(subscription.zone, from, { length: { period: 'QUARTERLY', count: 1 }, times }),
  );
  return ends.filter((at) => periods.some(({ start, end }) => start < at && at < end));
}

/** The frame with its history and the rows to invoice. */
function randomOutline(random: SeededRandom): Outline {
  const theme = randomTheme(random);
  const plain = randomFrame(random, theme);
  const trialEnd = random.chance(theme.trial) ? randomTrialEnd(random, plain) : null;
  const frame = { ...plain, trialEnd };
  const rowCount = random.pick([1, 2, 2, 3, 3, 4, 5]) + (trialEnd === null ? 0 : 1);
  const ending = { ...frame, end: randomEnd(random, frame, rowCount) };
  const subscription = randomHistory(random, theme, { subscription: ending, rowCount });
  const periods = firstRows(subscription, runningRow(subscription).index + 1);
  const edges = [
    ...periods.flatMap(({ start, end }) => [start, end]),
    ...edgesOf(subscription),
    ...windowEndsOf(subscription, periods),
  ];
  return { theme, subscription, periods, edges };
}

function lifeOf({ periods }: Outline): { start: number; end: number } {
  const [first, last] = [periods[0], periods.at(-1)];
  if (first === undefined || last === undefined) throw new Error('no periods');
  return { start: first.start, end: last.end };
}

function withUsage(random: SeededRandom, outline: Outline): Subscription {
  const { history } = outline.subscription;
  // Threshold invoices are made of subscriptions with usage only (docs/domain.md 30.1).
  const metersMin = history.some(({ type }) => type === 'threshold') ? 1 : 0;
  const count = Math.max(metersMin, random.pick([0, 1, 1, 2, 2, 3, 4, 4]));
  const metered = Array.from({ length: count }, (_, index) =>
    randomMetered(random, outline, index),
  );
  const life = lifeOf(outline);
  const before = random.chance(0.3) ? Math.floor((life.end - life.start) / 2) : 0;
  const items: readonly LineItem[] = [
    ...metered.flatMap(({ items: own }) => own),
    ...randomFixedItems(random, outline),
  ];
  return {
    ...outline.subscription,
    items,
    meters: new Map(metered.map(({ meterId, meter }) => [meterId, meter])),
    features: metered.flatMap((each) => randomFeatures(random, outline, each)),
    events: randomEvents(
      random,
      { start: life.start - before, end: life.end, edges: outline.edges },
      outline.theme.events,
    ),
  };
}

/** Amounts of which odd multiples lie between two of the smallest units of the currency. */
function tiesOf({ currency }: Subscription): readonly string[] {
  const digits = minorDigitsOf(currency) + 1;
  return [5, 15, 2505].map((units) => toText(exact(`${units}e-${digits}`)));
}

/** Amounts that the invoices come to without a commitment; ties where they come to nothing. */
function amountsNear(subscription: Subscription, periodCount: number): readonly string[] {
  const amounts = Array.from({ length: periodCount }, (_, rowIndex) => {
    const question = { reference: 'period_end', rowIndex, now: null, earlier: [] } as const;
    const { lines, totals } = priceInvoice(subscription, question);
    const usage = lines.filter(({ priceType }) => priceType === 'USAGE');
    const used = sum(usage.map(({ amount }) => exact(amount)));
    // Less than all of it: the lines before the one that is split are committed as they are.
    const parts = ['0.5', '0.9', '0.99'].map((share) => toText(multiply(used, exact(share))));
    return [totals.subtotal, ...usage.map(({ amount }) => amount), ...parts];
  });
  const near = amounts.flat().filter((amount) => /[1-9]/.test(amount));
  return near.length > 0 ? near : tiesOf(subscription);
}

function randomSubscriptionCommitment(
  random: SeededRandom,
  { theme, subscription: { currency, length } }: Outline,
  near: readonly string[],
): SubscriptionCommitment {
  const isNear = near.length > 0 && random.chance(0.6);
  return {
    amount: roundedText(currency, isNear ? random.pick(near) : randomPositive(random)),
    factor: randomFactor(random),
    hasTrueUp: random.chance(0.6),
    duration: randomDuration(random, length, theme),
  };
}

/**
 * One commitment for the items of a meter or one of its own for each. Those of a lineage all are
 * windowed, or none is.
 */
function withLineCommitments(
  random: SeededRandom,
  { theme, subscription }: Outline,
  near: readonly string[],
): readonly LineItem[] {
  const { length } = subscription;
  const ofMeters = new Map<string, LineCommitment | null>();
  const ofLineages = new Map<string, LineCommitment>();
  const drawn = ({ meterId }: UsageItem): LineCommitment | null => {
    const meter = subscription.meters.get(meterId);
    const known = ofMeters.get(meterId);
    if (known !== undefined && random.chance(0.6)) return known;
    const isCommitted = meter !== undefined && random.chance(theme.commitsLine);
    const next = isCommitted ? randomLineCommitment(random, { meter, length, theme }, near) : null;
    ofMeters.set(meterId, next);
    return next;
  };
  const commitmentFor = (item: UsageItem): LineCommitment | null => {
    const lineage = item.predecessorIds[0] ?? item.id;
    const [next, first] = [drawn(item), ofLineages.get(lineage)];
    if (next === null) return null;
    if (first !== undefined && first.isWindowed !== next.isWindowed) return first;
    ofLineages.set(lineage, next);
    return next;
  };
  return subscription.items.map((item) => {
    const mayCommit = item.type === 'USAGE' && item.length === length;
    return mayCommit ? { ...item, commitment: commitmentFor(item) } : item;
  });
}

/**
 * Commitments on one of the two levels, or none (docs/domain.md 11); none beside threshold invoices
 * (30.1).
 */
function withCommitments(random: SeededRandom, outline: Outline): Subscription {
  const { theme, subscription, periods } = outline;
  const isThresholded = subscription.history.some(({ type }) => type === 'threshold');
  const isOfSubscription = random.chance(theme.commitsSubscription);
  if (isThresholded || (!isOfSubscription && theme.commitsLine === 0)) return subscription;
  const near = amountsNear(subscription, periods.length);
  return isOfSubscription
    ? { ...subscription, commitment: randomSubscriptionCommitment(random, outline, near) }
    : { ...subscription, items: withLineCommitments(random, outline, near) };
}

/** The case of a seed, the same on every machine. */
export function randomCase(seed: number): RandomCase {
  const random = createSeededRandom(seed);
  const outline = randomOutline(random);
  const used = withUsage(random, outline);
  const committed = withCommitments(random, { ...outline, subscription: used });
  const coupons = randomCoupons(random, { ...outline, subscription: committed });
  const taxes = randomTaxes(random);
  const wallets = randomWallets(random);
  return { subscription: { ...committed, coupons, taxes, wallets } };
}
