import { decimalOf, ONE, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import { priceFromRow } from '../../declarations/catalog/price.resource.js';
import type { BillingReason } from '../../declarations/invoices/invoice.resource.js';
import type { WalletTransactionRow } from '../../declarations/money/wallet-transaction.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import { percentageLeft } from '../../domain/adjustments/percentage-left.js';
import { ratePrice } from '../../domain/rating/rate-price.js';
import { settle, type ChargedTime } from '../../domain/settlement/settle.js';
import { movedEnd, type AdvanceCharge } from '../../domain/settlement/unused-charge.js';
import type { Unit } from '../../records/unit.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import {
  findCouponsOfRest,
  NO_COUPONS,
  type CouponsOfRest,
} from '../../invoicing/compute/coupons-of-rest.js';
import { creditLines, linesOfCredit } from '../settle/credit-lines.js';
import { findCharges, isAdvance, lineageOf, type ItemCharge } from '../settle/find-unused.js';
import { lockCharges } from '../settle/lock-charges.js';
import { restOfPeriod, type RestOfPeriod } from '../settle/rest-of-period.js';
import { storeProration, type ProratedLine } from './store-proration.js';

/** A line item with what it is to cost in advance from an instant on. */
export type LineTerms = {
  readonly item: LineItemRow;
  readonly quantity: Decimal;
  /** Of a full period, before discounts; 0 where the line ends. */
  readonly full: Decimal;
};

/** A change of a locked subscription, as far as its charges in advance go. */
export type TermsChange = {
  /** From when on it counts. */
  readonly atMs: InstantMs;
  /** Lies in the period that is settled, where `atMs` is the end of what was charged of it. */
  readonly insideMs?: InstantMs;
  readonly lines: readonly LineTerms[];
};

/** What a line item costs for the rest of a period, beside what it was charged for it. */
type SettledLine = ProratedLine & { readonly charges: readonly ItemCharge[] };

/** What changed lines owe for the rest of their periods, less what they were charged for it. */
export type Settlement = {
  /** Below 0 what is given back. */
  readonly lines: readonly SettledLine[];
  readonly reason: BillingReason;
  /** That discount what the lines cost more; what is settled has its discounts already. */
  readonly discounts: CouponsOfRest;
};

/** How a settlement was made: more is on one invoice, less is in a wallet. */
export type Settled = {
  readonly invoice: InvoiceDocument | null;
  readonly transaction: WalletTransactionRow | null;
};

const NOTHING: Settled = { invoice: null, transaction: null };

const NEVER_CHARGED: ChargedTime = { charges: [], pauses: [] };

/** What a line item costs by its own price and quantity. */
export function termsOf({ related }: BilledSubscription, item: LineItemRow): LineTerms {
  const price = priceFromRow(mustGet(related.prices, item.price_id, 'the price of a line'));
  const quantity = decimalOf(item.quantity);
  return { item, quantity, full: ratePrice(price, quantity).amount };
}

/** The rest of the period of a line item that a change settles; null in a trial. */
function restOf(
  loaded: BilledSubscription,
  { price_id: id, end_date: endMs }: LineItemRow,
  { atMs, insideMs = atMs }: Pick<TermsChange, 'atMs' | 'insideMs'>,
): RestOfPeriod | null {
  const price = priceFromRow(mustGet(loaded.related.prices, id, 'the price of a line'));
  return restOfPeriod(loaded, price, { atMs: insideMs, fromMs: atMs, endMs });
}

type Known = {
  readonly loaded: BilledSubscription;
  readonly change: TermsChange;
  readonly charges: Awaited<ReturnType<typeof findCharges>>;
};

/** The changed lines that are charged in advance, each with what is left of its period. */
function inAdvance(loaded: BilledSubscription, { lines, ...change }: TermsChange) {
  return lines.flatMap((line) => {
    const rest = isAdvance(line.item) ? restOf(loaded, line.item, change) : null;
    return rest === null ? [] : [{ ...line, rest }];
  });
}

/** Whether charges and credits of a line item reach to the end of what is left of its period. */
function isChargedFor(
  { period, own }: RestOfPeriod,
  charges: readonly AdvanceCharge[] | undefined,
  atMs: InstantMs,
): boolean {
  const reaches = (charge: AdvanceCharge) => movedEnd(charge, own.pauses, atMs) >= period.endMs;
  return charges?.some(reaches) === true;
}

/** Settles one line; null where no invoice charges its period, so that a later one does. */
async function settleLine(
  unit: Unit,
  { loaded, change, charges: found }: Known,
  { item, quantity, full, rest }: LineTerms & { readonly rest: RestOfPeriod },
): Promise<SettledLine | null> {
  const { atMs, insideMs = atMs } = change;
  const { own, period, proration } = rest;
  const lineage = lineageOf(item, loaded.related.lineItems).map(({ id }) => id);
  // Absent means none: no invoice charges that line item beyond the start of the period.
  const all = lineage.flatMap((id) => found.get(id) ?? []);
  const charges = all.filter((charge) => charge.period.endMs > own.startMs);
  // A charge of nothing, as of no seats, is one as well; what was given back is below zero.
  const reaches = charges.some(
    (charge) => !charge.net.isNegative() && movedEnd(charge, own.pauses, atMs) >= atMs,
  );
  if (!reaches) return null;
  const line = { item, quantity, period, proration, charges };
  const isSame = full.equals(termsOf(loaded, item).full);
  if (isSame && isChargedFor(rest, found.get(item.id), atMs)) {
    return { ...line, exact: ZERO, amount: ZERO };
  }
  const { coupons } = await findCouponsOfRest(unit, loaded, { atMs: insideMs, charged: lineage });
  const terms = { rest: period, proration, full, left: percentageLeft(coupons, item.id) };
  const difference = settle(terms, { charges, pauses: own.pauses }, item.currency);
  return { ...line, ...difference };
}

/**
 * Reads what changed lines owe in advance and what they were charged, and settles each by the rules
 * of docs/domain.md 23.8. Lines that are charged in arrear, or by a later invoice, are left out.
 * The invoices that charge the subscription are locked first.
 */
export async function readSettlement(
  unit: Unit,
  loaded: BilledSubscription,
  change: TermsChange,
): Promise<Settlement> {
  const advance = inAdvance(loaded, change);
  const lines: SettledLine[] = [];
  if (advance.length > 0) {
    const { lineItems } = loaded.related;
    const afterMs = Math.min(...advance.map(({ rest }) => rest.own.startMs));
    // All of them, since a request may change several lines: in the order of locks.
    await lockCharges(unit, lineItems, afterMs);
    const known = { loaded, change, charges: await findCharges(unit, lineItems, afterMs) };
    for (const one of advance) {
      const line = await settleLine(unit, known, one);
      if (line !== null) lines.push(line);
    }
  }
  return { lines, reason: 'PRORATION', discounts: NO_COUPONS };
}

/** What new lines owe for the rest of their periods, of which nothing was charged before. */
export async function readFirstCharges(
  unit: Unit,
  loaded: BilledSubscription,
  added: readonly LineTerms[],
): Promise<Settlement> {
  const lines = added
    .flatMap((one) => inAdvance(loaded, { atMs: one.item.start_date, lines: [one] }))
    .map(({ item, quantity, full, rest: { period, proration } }): SettledLine => {
      const terms = { rest: period, proration, full, left: ONE };
      const difference = settle(terms, NEVER_CHARGED, item.currency);
      return { item, quantity, period, proration, charges: [], ...difference };
    })
    .filter(({ amount }) => !amount.isZero());
  const [first] = lines;
  const items = added.map(({ item }) => item);
  const discounts =
    first === undefined
      ? NO_COUPONS
      : await findCouponsOfRest(unit, loaded, { atMs: first.period.startMs, added: items });
  return { lines, reason: 'SUBSCRIPTION_UPDATE', discounts };
}

/** Stores a settlement: an invoice for what costs more, credits of a wallet for what costs less. */
export async function storeSettlement(
  unit: Unit,
  loaded: BilledSubscription,
  { lines, reason, discounts }: Settlement,
): Promise<Settled> {
  const less = lines.filter(({ amount }) => amount.isNegative());
  const credits = less.flatMap(({ item, amount, period: { startMs }, proration, charges }) => {
    // Its end without the pauses that have moved it, as that of a charge (docs/domain.md 23.1).
    const period = { startMs, endMs: startMs + proration.coveredMs };
    const credit = { lineItemId: item.id, amount: amount.negated(), period, charges };
    return linesOfCredit(credit, item.currency);
  });
  const given = await creditLines(unit, credits);
  const { transaction } = given;
  const more = lines.filter(({ amount }) => amount.greaterThan(ZERO));
  if (more.length === 0) return { ...NOTHING, transaction };
  const { period } = assertPresent(more[0], 'a line that costs more');
  const invoice = await storeProration(unit, loaded, { reason, lines: more, period, discounts });
  return { invoice, transaction };
}

/** Settles a change of a locked subscription whose lines are stored already. */
export async function settleChange(
  unit: Unit,
  loaded: BilledSubscription,
  change: TermsChange,
): Promise<Settled> {
  return storeSettlement(unit, loaded, await readSettlement(unit, loaded, change));
}
