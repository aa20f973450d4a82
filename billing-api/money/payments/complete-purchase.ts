import { sql } from 'slonik';
import {
  WALLET_TRANSACTIONS,
  walletTransactionToDto,
  type WalletTransactionRow,
} from '../../declarations/money/wallet-transaction.resource.js';
import { WALLETS, type WalletRow } from '../../declarations/money/wallet.resource.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { postingsOfCredit } from '../../domain/ledger/postings.js';
import { WALLET_TRANSACTION } from '../../domain/lifecycle/money-lifecycle.js';
import { postGroups } from '../ledger/post-groups.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import { moveRecord } from '../../records/move-record.js';
import { notFound, Refused } from '../../records/refusal.js';
import type { StatementUnit, Unit } from '../../records/unit.js';
import { assertPresent } from '../../../runtime/failure.js';
import { lockRefundWallet } from '../wallets/wallets-store.js';
import { addCredits, completion, writeBalance } from '../wallets/move-credits.js';

/** The credits that an invoice sells; none for any other invoice. */
export function findPurchases(
  { tx }: StatementUnit,
  invoiceId: string,
): Promise<readonly WalletTransactionRow[]> {
  return tx.any(sql.type(WALLET_TRANSACTIONS.row)`
    SELECT * FROM wallet_transactions
    WHERE reference_id = ${invoiceId} AND reference_type = 'INVOICE' AND type = 'credit'
      AND transaction_reason IN ('PURCHASED_CREDIT_INVOICED', 'PURCHASED_CREDIT_BONUS')
      AND ${isOfEnvironment}
    ORDER BY created_at, id`);
}

/** Completes one credit that waited for a payment. */
async function complete(
  unit: Unit,
  wallet: WalletRow,
  waiting: WalletTransactionRow,
): Promise<WalletTransactionRow> {
  const members = completion(wallet, waiting.credit_amount);
  const done = await moveRecord(unit, WALLET_TRANSACTIONS, {
    target: { id: waiting.id },
    lifecycle: WALLET_TRANSACTION,
    move: 'complete',
    to: 'completed',
    patch: () => members,
    told: (after) => Promise.resolve(walletTransactionToDto(after)),
  });
  await writeBalance(unit, wallet, members.credit_balance_after);
  return done;
}

/** Credits whose wallet was closed meanwhile: what they are worth goes where money goes back to. */
async function redirect(unit: Unit, waiting: WalletTransactionRow): Promise<WalletTransactionRow> {
  await failCredit(unit, waiting.id);
  const owner = { customerId: waiting.customer_id, currency: waiting.currency };
  const wallet = await lockRefundWallet(unit, owner);
  const moved = await addCredits(unit, wallet, {
    credits: waiting.amount,
    reason: waiting.transaction_reason,
    parentId: waiting.id,
    expiryDate: waiting.expiry_date,
    priority: waiting.priority,
    reference: { type: 'INVOICE', id: assertPresent(waiting.reference_id, 'its invoice') },
  });
  return moved.transaction;
}

/** Notes that a credit will not arrive. */
function failCredit(unit: Unit, id: string): Promise<WalletTransactionRow> {
  return moveRecord(unit, WALLET_TRANSACTIONS, {
    target: { id },
    lifecycle: WALLET_TRANSACTION,
    move: 'fail',
    to: 'failed',
    told: (after) => Promise.resolve(walletTransactionToDto(after)),
  });
}

/**
 * The credits that an invoice sells arrive in their wallet once it is paid, and nothing that it
 * still needs was given back. Where nothing is left to pay and nothing was paid, they never arrive
 * (docs/domain.md 20.4).
 */
export async function settlePurchase(
  unit: Unit,
  { id, amount_due: due, amount_paid: paid, refunded_amount: refunded, ...invoice }: InvoiceRow,
): Promise<void> {
  const kept = paid.minus(refunded);
  if (kept.isZero()) {
    if (invoice.amount_remaining.isZero()) await failPurchase(unit, id);
  } else if (!kept.lessThan(due)) {
    await completeCredits(unit, await findPurchases(unit, id));
  }
}

/** Whether all that an invoice has sold will never arrive. */
export function hasFailed(purchases: readonly WalletTransactionRow[]): boolean {
  return purchases.length > 0 && purchases.every((one) => one.transaction_status === 'failed');
}

/** Credits that waited for a payment arrive in their wallet. */
export async function completeCredits(
  unit: Unit,
  credits: readonly WalletTransactionRow[],
): Promise<void> {
  for (const waiting of credits.filter((one) => one.transaction_status === 'pending')) {
    const wallet = await lockRecord(unit, WALLETS, waiting.wallet_id);
    if (wallet === null) throw new Refused(notFound(WALLETS.name, waiting.wallet_id));
    const arrived =
      wallet.wallet_status === 'closed'
        ? await redirect(unit, waiting)
        : await complete(unit, wallet, waiting);
    const { id: entityId, wallet_id: walletId, amount: worth } = arrived;
    await postGroups(unit, [
      {
        customerId: waiting.customer_id,
        kind: 'wallet.credit',
        entityType: 'wallet_transaction',
        entityId,
        currency: waiting.currency,
        postings: postingsOfCredit({ walletId, worth }),
      },
    ]);
  }
}

/** Credits that were never paid do not arrive any more. */
export async function failPurchase(unit: Unit, invoiceId: string): Promise<void> {
  const waiting = await findPurchases(unit, invoiceId);
  for (const { id } of waiting.filter((one) => one.transaction_status === 'pending')) {
    await failCredit(unit, id);
  }
}
