import { sql } from 'slonik';
import { decimalOf, plain, ZERO, type Decimal } from '../../../contract/decimal.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { noRows } from '../../../sql/columns.js';
import type { WalletTransactionRow } from '../../declarations/money/wallet-transaction.resource.js';
import {
  LINE_ITEMS,
  type LineItemRow,
} from '../../declarations/subscriptions/line-item.resource.js';
import { roundToMinorDigits } from '../../domain/money/money.js';
import { settleQuantity } from '../../domain/proration/quantity-change.js';
import { updateRecord } from '../../records/change-record.js';
import { CURRENT_ENVIRONMENT } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import { invalid, isRefusal, Refusal } from '../../records/refusal.js';
import { ownColumnsOf } from '../../records/resource.js';
import type { Unit } from '../../records/unit.js';
import { lineItemFromRow } from '../../subscriptions/lines/line-item-from-row.js';
import type { InvoiceDocument } from '../document/invoice-document.js';
import { creditWallet } from '../proration/credit-wallet.js';
import { findCharges, isAdvance, lineageOf } from '../proration/find-unused.js';
import { restOfPeriod, type RestOfPeriod } from '../proration/rest-of-period.js';
import { instantRefusal, type HeldLine } from './held-line.js';
import { storeProration } from './store-proration.js';

/** A quantity that a line item is to have from an instant on. */
export type NewQuantity = {
  readonly quantity: Decimal;
  readonly atMs: InstantMs;
  /** The member of the request that gives the instant, and the one that gives the quantity. */
  readonly members: { readonly at: string; readonly quantity: string };
};

/** A line item that goes on with another quantity, and how the rest of its period was settled. */
export type ChangedQuantity = {
  readonly before: LineItemRow;
  readonly after: LineItemRow;
  /** What it costs more; null where that is nothing, or is on a later invoice. */
  readonly invoice: InvoiceDocument | null;
  /** What it costs less; null where that is nothing. */
  readonly transaction: WalletTransactionRow | null;
};

/** What a change of quantity settles at once: the period, its share, and the money. */
type Settlement = Pick<RestOfPeriod, 'period' | 'proration'> & {
  /** Rounded; below 0 it is given back. */
  readonly amount: Decimal;
  readonly exact: Decimal;
};

function lineRefusal(held: HeldLine, { members, quantity, atMs }: NewQuantity): Refusal | null {
  const { row } = held;
  if (row.price_type !== 'FIXED' || row.billing_period === 'ONETIME') {
    const problem = 'only recurring fixed line items have a quantity that changes';
    return new Refusal('invalid_operation', problem);
  }
  if (quantity.isNegative()) return invalid({ [members.quantity]: 'must be 0 or more' });
  return instantRefusal(held, members.at, atMs);
}

/** What is settled at once; null where the next invoice charges both quantities by their time. */
async function settlementOf(
  unit: Unit,
  { row, loaded }: HeldLine,
  { quantity, atMs }: NewQuantity,
): Promise<Settlement | null> {
  if (!isAdvance(row)) return null;
  const { related } = loaded;
  const metering = { meters: new Map(), effectiveMeters: new Map() } as const;
  const { price } = lineItemFromRow(row, related.prices, metering);
  const { own, period, proration } = restOfPeriod(loaded, price, { atMs, endMs: row.end_date });
  const lineage = lineageOf(row, related.lineItems);
  const found = await findCharges(unit, lineage, own.startMs);
  const charges = [...found.values()].flat();
  if (!charges.some(({ net }) => net.greaterThan(ZERO))) return null;
  const exact = settleQuantity({
    ...{ price, from: decimalOf(row.quantity), to: quantity, atMs, charges },
    ...{ proration, pauses: own.pauses },
  });
  const amount = roundToMinorDigits(exact, row.currency);
  return { period, proration, exact, amount };
}

function chargeMore(
  unit: Unit,
  { row, loaded }: HeldLine,
  { settlement, after }: { settlement: Settlement; after: LineItemRow },
): Promise<InvoiceDocument | Refusal> {
  const { period, proration, exact, amount } = settlement;
  const quantity = decimalOf(after.quantity).minus(decimalOf(row.quantity));
  const line = { item: after, quantity, amount, exact, proration, period };
  return storeProration(unit, loaded, { reason: 'PRORATION', lines: [line], period });
}

/** Gives back what a line item costs less, and keeps for which time that was. */
async function giveBack(
  unit: Unit,
  { loaded }: HeldLine,
  { settlement, after }: { settlement: Settlement; after: LineItemRow },
): Promise<WalletTransactionRow | null | Refusal> {
  const amount = settlement.amount.negated();
  const { startMs, endMs } = settlement.period;
  const transaction = await creditWallet(unit, loaded.subscription, amount);
  if (transaction === null || isRefusal(transaction)) return transaction;
  await unit.tx.query(sql.type(noRows)`
    INSERT INTO line_credits (tenant_id, environment_id, wallet_transaction_id,
      subscription_line_item_id, period_start, period_end, amount)
    VALUES (${CURRENT_ENVIRONMENT}, ${transaction.id}, ${after.id},
      ${formatInstant(startMs)}::timestamptz, ${formatInstant(endMs)}::timestamptz,
      ${plain(amount)}::numeric)`);
  return transaction;
}

/**
 * Gives a line item another quantity from an instant on: it ends there, and its successor begins.
 * What was charged in advance for the rest of the period is settled at once: an invoice for more,
 * credits of a wallet for less (docs/domain.md 27).
 */
export async function changeQuantity(
  unit: Unit,
  held: HeldLine,
  change: NewQuantity,
): Promise<ChangedQuantity | Refusal> {
  const refusal = lineRefusal(held, change);
  if (refusal !== null) return refusal;
  const { row } = held;
  const { quantity, atMs } = change;
  const settlement = await settlementOf(unit, held, change);
  const before = await updateRecord(unit, LINE_ITEMS, { row, patch: { end_date: atMs } });
  if (isRefusal(before)) return before;
  const after = await createRecord(unit, LINE_ITEMS, {
    ...ownColumnsOf(LINE_ITEMS, row),
    ...{ quantity: plain(quantity), start_date: atMs, predecessor_id: row.id },
    ...{ is_settled: settlement !== null, metadata: row.metadata },
  });
  if (isRefusal(after)) return after;
  const none = { before, after, invoice: null, transaction: null };
  if (settlement === null || settlement.amount.isZero()) return none;
  const settled = { settlement, after };
  if (settlement.amount.isNegative()) {
    const transaction = await giveBack(unit, held, settled);
    return isRefusal(transaction) ? transaction : { ...none, transaction };
  }
  const invoice = await chargeMore(unit, held, settled);
  return isRefusal(invoice) ? invoice : { ...none, invoice };
}
