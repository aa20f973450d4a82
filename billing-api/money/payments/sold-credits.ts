import { sql } from 'slonik';
import { z } from 'zod';
import { addAt, decimalOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { numericColumn } from '../../../sql/columns.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { WalletTransactionRow } from '../../declarations/money/wallet-transaction.resource.js';
import { WALLETS, type WalletRow } from '../../declarations/money/wallet.resource.js';
import { postingsOfReturnedCredits } from '../../domain/ledger/postings.js';
import { shareOfCredits } from '../../domain/payment/refundable.js';
import { postGroups } from '../ledger/post-groups.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import { notFound, Refused } from '../../records/refusal.js';
import type { StatementUnit, Unit } from '../../records/unit.js';
import { debitPurchase } from '../wallets/move-credits.js';
import { giveCredits, groupOf, shareOf } from '../wallets/wallet-operations.js';
import { lockRefundWallet } from '../wallets/wallets-store.js';

type Purchases = readonly WalletTransactionRow[];

/** What of sold credits is still the customer's, and what went back with their money. */
type Sold = {
  readonly purchase: WalletTransactionRow;
  readonly left: Decimal;
  readonly taken: Decimal;
};

const takenRow = z.object({
  purchase_id: z.string(),
  worth: numericColumn.transform(decimalOf),
});

/** The credits of an invoice that have arrived, each with what refunds have taken of it. */
async function findSold({ tx }: StatementUnit, purchases: Purchases): Promise<readonly Sold[]> {
  const ids = purchases.map(({ id }) => id);
  const rows = await tx.any(sql.type(takenRow)`
    SELECT parent_transaction_id AS purchase_id, sum(amount) AS worth
    FROM wallet_transactions
    WHERE parent_transaction_id = ANY (${sql.array(ids, 'text')}) AND type = 'debit'
      AND transaction_reason = 'MANUAL_BALANCE_DEBIT' AND ${isOfEnvironment}
    GROUP BY parent_transaction_id`);
  const taken = new Map(rows.map(({ purchase_id: id, worth }) => [id, worth]));
  const returned = new Map<string, Decimal>();
  const reasons = new Map(purchases.map((one) => [one.id, one.transaction_reason]));
  for (const one of purchases) {
    const { parent_transaction_id: parent, transaction_reason: reason, amount: worth } = one;
    // A bonus has its purchase as a parent too, for another reason.
    if (parent !== null && reasons.get(parent) === reason) addAt(returned, parent, worth);
  }
  return purchases
    .filter((one) => one.transaction_status === 'completed')
    .map((purchase) => {
      // By what they are worth, since another wallet has its own rate.
      const credits = (worth: Decimal | undefined): Decimal =>
        worth === undefined ? ZERO : worth.dividedBy(purchase.conversion_rate);
      const gone = credits(taken.get(purchase.id));
      const back = credits(returned.get(purchase.id));
      return { purchase, left: purchase.credit_amount.minus(gone), taken: gone.minus(back) };
    });
}

/** The wallet that has the credits of a purchase, or else the one that money goes back to. */
async function walletOf(unit: Unit, purchase: WalletTransactionRow): Promise<WalletRow> {
  const { wallet_id: id, customer_id: customerId, currency } = purchase;
  const wallet = await lockRecord(unit, WALLETS, id);
  if (wallet === null) throw new Refused(notFound(WALLETS.name, id));
  if (wallet.wallet_status !== 'closed') return wallet;
  return lockRefundWallet(unit, { customerId, currency });
}

/** So many credits of a purchase in a wallet, which has other credits when its own was closed. */
function creditsIn(wallet: WalletRow, purchase: WalletTransactionRow, credits: Decimal): Decimal {
  return wallet.id === purchase.wallet_id ? credits : credits.times(purchase.conversion_rate);
}

/** What goes with credits that an invoice has sold. */
type Part = {
  readonly invoice: InvoiceRow;
  readonly purchases: Purchases;
  /** What goes back of the money of the invoice, or comes again. */
  readonly amount: Decimal;
};

/**
 * Money of an invoice that sold credits goes back: they go with it in the same share, below 0 where
 * they have been used (docs/domain.md 20.4).
 * @param invoice as it was before that.
 */
export async function takeSoldCredits(
  unit: Unit,
  { invoice, purchases, amount }: Part,
): Promise<void> {
  if (purchases.length === 0 || amount.isZero()) return;
  const of = invoice.amount_due.minus(invoice.refunded_amount);
  for (const { purchase, left } of await findSold(unit, purchases)) {
    const share = shareOfCredits(left, { amount, of });
    if (share.isZero()) continue;
    const wallet = await walletOf(unit, purchase);
    const credits = creditsIn(wallet, purchase, share);
    const moved = await debitPurchase(unit, wallet, {
      credits,
      reason: 'MANUAL_BALANCE_DEBIT',
      parentId: purchase.id,
      reference: { type: 'INVOICE', id: invoice.id },
    });
    const postings = postingsOfReturnedCredits(shareOf(moved));
    await postGroups(unit, [{ ...groupOf(moved), postings }]);
  }
}

/**
 * Money of an invoice that sold credits comes again after it was refunded: the credits that went
 * with it come again too.
 * @param invoice as it was before that.
 */
export async function returnSoldCredits(
  unit: Unit,
  { invoice, purchases, amount }: Part,
): Promise<void> {
  if (purchases.length === 0) return;
  const of = invoice.refunded_amount;
  for (const { purchase, taken } of await findSold(unit, purchases)) {
    const share = shareOfCredits(taken, { amount, of });
    if (share.isZero()) continue;
    const wallet = await walletOf(unit, purchase);
    await giveCredits(unit, wallet, {
      credits: creditsIn(wallet, purchase, share),
      reason: purchase.transaction_reason,
      expiryDate: purchase.expiry_date,
      priority: purchase.priority,
      parentId: purchase.id,
      reference: { type: 'INVOICE', id: invoice.id },
    });
  }
}
