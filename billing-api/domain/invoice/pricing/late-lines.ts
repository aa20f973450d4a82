import { ZERO, type Decimal } from '../../../../contract/number/decimal.js';
import { minorDigitsOf } from '../../money/minor-digits.js';
import { atLeastZero, lesserOf, Money, sumOfMoney, zeroMoney } from '../../money/money.js';
import { unadjusted } from '../charge/write-line.js';
import { committedAmountOf } from '../committed-amount.js';
import type {
  InvoiceInputs,
  InvoiceLine,
  LatePeriod,
  LinePlace,
  PriorCommitment,
} from '../invoice.js';
import { placeOf } from '../line-place.js';
import type { LineTrace } from '../line-trace.js';

/** What the name of a line of late usage begins with. */
const PREFIX = 'Late usage: ';

/** The lines that inputs make, with their discounts, those of grouped children too. */
type PriceLines<C extends string> = (inputs: InvoiceInputs<C>) => readonly InvoiceLine<C>[];

/** What a line of a period costs, or was charged. */
type Figures = {
  readonly quantity: Decimal;
  readonly amount: Decimal;
  readonly committed: Decimal;
};

/** A line that charges, or gives back, what is known later of a period. */
export type Late<C extends string = string> = {
  readonly period: LatePeriod<C>;
  readonly place: LinePlace;
  /** The line as the period is priced now; null where it has none any more. */
  readonly line: InvoiceLine<C> | null;
  readonly displayName: string;
  readonly now: Figures;
  readonly before: Figures;
};

/** What a late period adds to the commitments that later ones see. */
type LatePrior = PriorCommitment & Pick<LinePlace, 'childId'>;

export type LateCharges<C extends string> = {
  readonly late: readonly Late<C>[];
  readonly priors: readonly LatePrior[];
};

const NOTHING: Figures = { quantity: ZERO, amount: ZERO, committed: ZERO };

function sumOf(some: Figures, other: Figures): Figures {
  return {
    quantity: some.quantity.plus(other.quantity),
    amount: some.amount.plus(other.amount),
    committed: some.committed.plus(other.committed),
  };
}

function placeOfLine<C extends string>(line: InvoiceLine<C>): LinePlace {
  const { kind, lineItem, child, period } = line;
  const childId = child?.subscriptionId ?? null;
  return { kind, lineItemId: lineItem?.id ?? null, childId, startMs: period.startMs };
}

function figuresOfLine<C extends string>(line: InvoiceLine<C>): Figures {
  const net = line.amount.minus(line.lineItemDiscount).minus(line.invoiceLevelDiscount);
  // Absent means zero: the line belongs to no commitment.
  const committed = committedAmountOf(line) ?? ZERO;
  return { quantity: line.quantity, amount: net.value, committed };
}

/** A line that may be charged now: what the period costs at its place, and what was charged. */
type Entry<C extends string> = { -readonly [Name in keyof Late<C>]: Late<C>[Name] };

function entriesOf<C extends string>(
  period: LatePeriod<C>,
  lines: readonly InvoiceLine<C>[],
): readonly Late<C>[] {
  const entries = new Map<string, Entry<C>>();
  const entryAt = (place: LinePlace, line: InvoiceLine<C> | null, displayName: string) => {
    const name = placeOf(place);
    const known = entries.get(name);
    if (known !== undefined) return known;
    const entry = { period, place, line, displayName, now: NOTHING, before: NOTHING };
    entries.set(name, entry);
    return entry;
  };
  for (const line of lines) {
    const entry = entryAt(placeOfLine(line), line, line.displayName);
    entry.now = sumOf(entry.now, figuresOfLine(line));
  }
  for (const charged of period.charged) {
    const entry = entryAt(charged, null, charged.displayName);
    entry.before = sumOf(entry.before, charged);
  }
  return [...entries.values()];
}

const moreOf = ({ now, before }: Pick<Late<string>, 'now' | 'before'>): Decimal =>
  now.amount.minus(before.amount);

function hasChanged<C extends string>({ now, before, line }: Late<C>): boolean {
  if (!now.amount.equals(before.amount)) return true;
  const isUsage = line !== null && line.trace.usage !== null;
  return isUsage && !now.quantity.equals(before.quantity);
}

function inOrderOfTime<C extends string>(
  periods: readonly LatePeriod<C>[],
): readonly LatePeriod<C>[] {
  return periods.toSorted((one, other) => one.inputs.period.startMs - other.inputs.period.startMs);
}

/**
 * Every line of these periods, as it is priced now and as it was charged; a period sees what those
 * before it used of a commitment.
 */
export function lateFiguresOf<C extends string>(
  periods: readonly LatePeriod<C>[],
  price: PriceLines<C>,
): readonly Late<C>[] {
  const figures: Late<C>[] = [];
  for (const period of inOrderOfTime(periods)) {
    const priors = figures.flatMap(priorsOf);
    figures.push(...entriesOf(period, price(withPriors(period.inputs, priors))));
  }
  return figures;
}

/** What a period is charged now; nothing where the difference is below the least one. */
function latePeriod<C extends string>(
  period: LatePeriod<C>,
  { price, priors }: { readonly price: PriceLines<C>; readonly priors: readonly LatePrior[] },
): readonly Late<C>[] {
  const changed = entriesOf(period, price(withPriors(period.inputs, priors))).filter(hasChanged);
  const total = changed.reduce((sum, one) => sum.plus(moreOf(one)), ZERO);
  return total.abs().lessThan(period.leastAmount) ? [] : changed;
}

function priorsOf<C extends string>(late: Late<C>): readonly LatePrior[] {
  const { period, place, now, before } = late;
  const amount = now.committed.minus(before.committed);
  const { lineItemId, childId } = place;
  if (lineItemId === null || amount.isZero()) return [];
  const { invoiceId, inputs } = period;
  return [{ invoiceId, period: inputs.period, lineItemId, childId, amount }];
}

/** Inputs that know what late periods used of commitments. */
export function withPriors<C extends string>(
  inputs: InvoiceInputs<C>,
  priors: readonly LatePrior[],
): InvoiceInputs<C> {
  if (priors.length === 0) return inputs;
  const of = (id: string | null): readonly PriorCommitment[] =>
    priors.filter(({ childId }) => childId === id).map(({ childId: _, ...prior }) => prior);
  const children = inputs.children?.map((child) => ({
    ...child,
    inputs: {
      ...child.inputs,
      priorCommitments: [...child.inputs.priorCommitments, ...of(child.subscriptionId)],
    },
  }));
  return {
    ...inputs,
    priorCommitments: [...inputs.priorCommitments, ...of(null)],
    ...(children === undefined ? {} : { children }),
  };
}

/**
 * What the late periods of an invoice are charged, the earliest first: each sees what those before
 * it used of a commitment.
 */
export function lateChargesOf<C extends string>(
  { late = [] }: InvoiceInputs<C>,
  price: PriceLines<C>,
): LateCharges<C> {
  const charges: Late<C>[] = [];
  const priors: LatePrior[] = [];
  for (const period of inOrderOfTime(late)) {
    const own = latePeriod(period, { price, priors });
    charges.push(...own);
    priors.push(...own.flatMap(priorsOf));
  }
  return { late: charges, priors };
}

/** The trace of a line that the period does not have any more. */
function emptyTrace<C extends string>({ period }: Late<C>, currency: C): LineTrace<C> {
  const zero = zeroMoney(currency);
  return {
    timezone: period.inputs.subscription.timezone,
    window: period.inputs.period,
    usage: null,
    pricing: null,
    windows: null,
    commitment: null,
    proration: null,
    rounding: {
      exact: ZERO,
      rounded: zero,
      digits: minorDigitsOf(currency),
      mode: 'half_up_away_from_zero',
    },
    discounts: [],
  };
}

function itemAndChildOf<C extends string>({ period: { inputs }, place, line }: Late<C>) {
  if (line !== null) {
    const { lineItem, child } = line;
    return { lineItem, ...(child === undefined ? {} : { child }) };
  }
  const child = inputs.children?.find(({ subscriptionId: id }) => id === place.childId);
  const { lineItems } = child === undefined ? inputs : child.inputs;
  const lineItem = lineItems.find(({ id }) => id === place.lineItemId) ?? null;
  if (child === undefined) return { lineItem };
  const { subscriptionId, planId } = child;
  return { lineItem, child: { subscriptionId, planId } };
}

function writeLate<C extends string>(
  late: Late<C>,
  { taken, currency }: { readonly taken: Money<C>; readonly currency: C },
): InvoiceLine<C> {
  const { period, place, line, displayName, now, before } = late;
  const { invoiceId, invoiceNumber } = period;
  const committed = now.committed.minus(before.committed);
  const money = (value: Decimal): Money<C> => new Money(value, currency);
  return {
    kind: place.kind,
    late: { invoiceId, committed: committed.isZero() ? null : committed },
    ...itemAndChildOf(late),
    displayName: displayName.startsWith(PREFIX) ? displayName : `${PREFIX}${displayName}`,
    period: line?.period ?? period.inputs.period,
    quantity: now.quantity.minus(before.quantity),
    adjustedEntitlementQuantity: null,
    amount: taken,
    priceUnitAmount: null,
    ...unadjusted(currency),
    commitmentInfo: null,
    usageAnalytics: [],
    usageBreakdown: [],
    metadata: { is_late_usage: true, late_invoice_id: invoiceId },
    trace: {
      ...(line?.trace ?? emptyTrace(late, currency)),
      late: {
        invoiceId,
        invoiceNumber,
        cost: money(now.amount),
        chargedBefore: money(before.amount),
        quantityBefore: before.quantity,
        waiting: money(now.amount.minus(before.amount)).minus(taken),
      },
    },
  };
}

/**
 * What later invoices charged for the period of this one, which took the place of another: it is
 * taken off again, so that nothing is charged twice.
 */
function chargedLater<C extends string>(inputs: InvoiceInputs<C>): readonly Late<C>[] {
  const { chargedLate = [] } = inputs;
  const ids = new Set(chargedLate.map(({ invoiceId }) => invoiceId));
  return [...ids].flatMap((invoiceId) => {
    const charged = chargedLate.filter((one) => one.invoiceId === invoiceId);
    const of = { countedBelow: [], inputs, leastAmount: ZERO, invoiceNumber: null };
    return entriesOf({ ...of, invoiceId, charged }, []).filter(({ before }) => {
      return !before.amount.isZero();
    });
  });
}

/**
 * The lines of late usage, behind all others and without discounts of this invoice. What is given
 * back is at most what the other lines leave; the rest waits for the next invoice.
 */
export function lateLines<C extends string>(
  { late }: LateCharges<C>,
  others: readonly InvoiceLine<C>[],
  inputs: InvoiceInputs<C>,
): readonly InvoiceLine<C>[] {
  const { currency } = inputs.subscription;
  const all = [...late, ...chargedLater(inputs)];
  if (all.length === 0) return [];
  const charges = all.map(moreOf).filter((more) => more.greaterThan(ZERO));
  const amounts = [
    ...others.map((line) => new Money(figuresOfLine(line).amount, currency)),
    ...charges.map((more) => new Money(more, currency)),
  ];
  let left = atLeastZero(sumOfMoney(amounts, currency));
  return all.flatMap((one) => {
    const more = new Money(moreOf(one), currency);
    if (!more.value.isNegative() || more.isZero()) {
      return [writeLate(one, { taken: more, currency })];
    }
    const back = lesserOf(left, zeroMoney(currency).minus(more));
    left = left.minus(back);
    const taken = zeroMoney(currency).minus(back);
    return back.isZero() ? [] : [writeLate(one, { taken, currency })];
  });
}
