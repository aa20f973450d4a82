import { divide, zero, type Fraction } from '../usage-oracle/fraction.js';
import { chargeOf, committedMoney, type CommitmentParts } from './commitment-parts.js';
import type { CommitmentInfo, DraftLine } from './draft-line.js';
import { exact, isPositive, one, subtract } from './exact.js';
import { fixedCharge } from './fixed-charge.js';
import type { EarlierInvoice, InvoiceQuestion } from './invoice-question.js';
import { splitAmount } from './largest-remainder.js';
import { lineParts, type Settlement } from './line-commitment.js';
import {
  billsEndedPeriod,
  chosenLines,
  earlierParts,
  invoicePeriodsOf,
  type ChosenLine,
} from './line-selection.js';
import { cappedCharges, cappedMoney, cappedParts } from './maximum.js';
import { roundMoney } from './money.js';
import { settleSubscription, type SettledLine } from './subscription-commitment.js';
import type {
  Commitment,
  LineItem,
  LineCommitment,
  Price,
  Subscription,
  UsageItem,
} from './subscription.js';
import { usageCharges, type UsageCharge } from './usage-charge.js';

/** Line amount ÷ rate, rounded to the minor digits of the base currency (docs/domain.md 8.6). */
function priceUnitAmount(currency: string, price: Price, amount: Fraction): Fraction | null {
  if (price.unitRate === null) return null;
  return roundMoney(currency, divide(amount, exact(price.unitRate)));
}

function fixedLine(
  { currency }: Subscription,
  chosen: ChosenLine<Exclude<LineItem, UsageItem>>,
): DraftLine {
  const amount = roundMoney(currency, fixedCharge(chosen));
  return {
    itemId: chosen.item.id,
    kind: 'charge',
    priceType: 'FIXED',
    period: chosen.covered,
    quantity: exact(chosen.item.quantity),
    amount,
    priceUnitAmount: priceUnitAmount(currency, chosen.item.price, amount),
    adjusted: null,
    commitment: null,
  };
}

type Configured = Omit<CommitmentInfo, 'utilized' | 'overage' | 'trueUp'>;

function amountAsGiven({ type, value }: Commitment): Fraction | null {
  return type === 'amount' ? exact(value) : null;
}

/** The commitment as money; one per window as it was given (docs/domain.md 11.3, 11.4). */
function configured({ own, isWindowed }: LineCommitment, price: Price): Configured {
  if (own === null) {
    return {
      type: null,
      amount: null,
      quantity: null,
      factor: null,
      hasTrueUp: null,
      isWindowed,
    };
  }
  const { type, factor, hasTrueUp, value } = own;
  return {
    type,
    amount: isWindowed ? amountAsGiven(own) : committedMoney(own, price),
    quantity: type === 'quantity' ? exact(value) : null,
    factor: exact(factor),
    hasTrueUp,
    isWindowed,
  };
}

/** The three figures are a largest-remainder split of the line amount (docs/domain.md 11.3). */
function commitmentInfo(
  currency: string,
  { item, amount }: { readonly item: UsageItem; readonly amount: Fraction },
  { utilized, overage, trueUp }: CommitmentParts,
): CommitmentInfo | null {
  if (item.commitment === null) return null;
  const [first, second, third] = splitAmount(currency, amount, [utilized, overage, trueUp]);
  if (first === undefined || second === undefined || third === undefined) return null;
  return {
    ...configured(item.commitment, item.price),
    utilized: first,
    overage: second,
    trueUp: third,
  };
}

/** What a line used of a commitment that it shares with its lineage (docs/domain.md 11.3). */
function sharedUse({ commitment }: DraftLine): Fraction {
  return commitment === null || commitment.isWindowed ? zero : commitment.utilized;
}

function usageLine(
  charge: UsageCharge,
  settlement: Settlement,
  predecessors: readonly DraftLine[],
): DraftLine {
  const { currency } = settlement.subscription;
  const { item, covered } = charge.line;
  const whole = lineParts(charge, settlement, predecessors.map(sharedUse));
  const money = whole === null ? charge.money : chargeOf(whole);
  const before = predecessors.map(({ amount: charged }) => charged);
  const capped = cappedMoney(item, money, before);
  const amount = roundMoney(currency, capped);
  const parts = whole === null ? null : cappedParts(whole, subtract(money, capped));
  return {
    itemId: item.id,
    kind: 'charge',
    priceType: 'USAGE',
    period: covered,
    quantity: charge.quantity,
    amount,
    priceUnitAmount: priceUnitAmount(currency, item.price, amount),
    adjusted: charge.adjusted,
    commitment: parts === null ? null : commitmentInfo(currency, { item, amount }, parts),
  };
}

function settledLine(currency: string, { charge, ...settled }: SettledLine): DraftLine {
  const { item, covered } = charge.line;
  return {
    ...settled,
    itemId: item.id,
    priceType: 'USAGE',
    period: covered,
    priceUnitAmount: priceUnitAmount(currency, item.price, settled.amount),
    adjusted: charge.adjusted,
    commitment: null,
  };
}

function trueUpLine({ period }: Settlement, amount: Fraction): DraftLine {
  return {
    itemId: null,
    kind: 'true-up',
    priceType: 'FIXED',
    period,
    quantity: one,
    amount,
    priceUnitAmount: null,
    adjusted: null,
    commitment: null,
  };
}

/** Every line after those of the items that it continues, then in line order. */
function linesOf(charges: readonly UsageCharge[], settlement: Settlement): readonly DraftLine[] {
  const known = new Map<UsageCharge, DraftLine>();
  const lineOf = (charge: UsageCharge): DraftLine => {
    const { predecessorIds } = charge.line.item;
    const before = charges.filter(({ line }) => predecessorIds.includes(line.item.id));
    const line = known.get(charge) ?? usageLine(charge, settlement, before.map(lineOf));
    known.set(charge, line);
    return line;
  };
  return charges.map(lineOf);
}

type UsageLines = { readonly lines: readonly DraftLine[]; readonly trueUp: readonly DraftLine[] };

/** What is left of a line when earlier parts of its period have charged theirs (30.1). */
function withoutParts(
  { currency, items }: Subscription,
  line: DraftLine,
  parts: readonly EarlierInvoice[],
): DraftLine {
  const item = items.find(({ id }) => id === line.itemId);
  if (item === undefined || parts.length === 0) return line;
  const charged = parts.flatMap(({ lines }) => lines.filter(({ itemId }) => itemId === item.id));
  const amount = charged.reduce(
    // Absent means zero: nothing was said to be charged.
    (left, each) => subtract(left, exact(each.amount ?? '0')),
    line.amount,
  );
  return { ...line, amount, priceUnitAmount: priceUnitAmount(currency, item.price, amount) };
}

function usageLines(lines: readonly ChosenLine<UsageItem>[], settlement: Settlement): UsageLines {
  const charges = usageCharges(settlement.subscription, lines);
  const { currency } = settlement.subscription;
  const settled = settleSubscription(cappedCharges(charges, currency), settlement);
  if (settled === null) {
    return { lines: linesOf(charges, settlement), trueUp: [] };
  }
  return {
    lines: settled.lines.map((line) => settledLine(currency, line)),
    trueUp: isPositive(settled.trueUp) ? [trueUpLine(settlement, settled.trueUp)] : [],
  };
}

function isUsage(chosen: ChosenLine): chosen is ChosenLine<UsageItem> {
  return chosen.item.type === 'USAGE';
}

function isNotUsage(chosen: ChosenLine): chosen is ChosenLine<Exclude<LineItem, UsageItem>> {
  return chosen.item.type !== 'USAGE';
}

/** All lines of an invoice: in line order, a true-up of the subscription last. */
export function draftLines(
  subscription: Subscription,
  question: InvoiceQuestion,
): readonly DraftLine[] {
  const chosen = chosenLines(subscription, question);
  const periods = invoicePeriodsOf(subscription, question);
  const { now, earlier } = question;
  const settlement = { subscription, period: periods.unsplit, now, earlier };
  // Where no period ends there is no usage, and nothing of a commitment is due yet.
  const usage = billsEndedPeriod(periods, question)
    ? usageLines(chosen.filter(isUsage), settlement)
    : { lines: [], trueUp: [] };
  const parts = earlierParts(periods, question);
  const fixed = chosen.filter(isNotUsage).map((line) => fixedLine(subscription, line));
  const ids = [...new Set(chosen.map(({ item }) => item.id))];
  const ofItems = ids.flatMap((id) =>
    [...fixed, ...usage.lines.map((line) => withoutParts(subscription, line, parts))].filter(
      ({ itemId }) => itemId === id,
    ),
  );
  return [...ofItems, ...usage.trueUp];
}
