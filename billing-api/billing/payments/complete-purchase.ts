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
import { postGroups } from '../../ledger/post-groups.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import { moveRecord } from '../../records/move-record.js';
import { isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import type { StatementUnit, Unit } from '../../records/unit.js';
import { completion, writeBalance } from '../../wallets/move-credits.js';

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
): Promise<WalletRow | Refusal> {
  const members = completion(wallet, waiting.credit_amount);
  const done = await moveRecord(unit, WALLET_TRANSACTIONS, {
    ...{ target: { id: waiting.id }, lifecycle: WALLET_TRANSACTION },
    ...{ move: 'complete', to: 'completed' },
    patch: () => members,
    told: (after) => Promise.resolve(walletTransactionToDto(after)),
  });
  if (isRefusal(done)) return done;
  return writeBalance(unit, wallet, members.credit_balance_after);
}

/** The credits that a paid invoice sells arrive in their wallet, once (docs/domain.md 20.4). */
export async function completePurchase(unit: Unit, invoice: InvoiceRow): Promise<null | Refusal> {
  if (invoice.payment_status === 'PENDING') return null;
  return completeCredits(unit, await findPurchases(unit, invoice.id));
}

/** Credits that waited for a payment arrive in their wallet. */
export async function completeCredits(
  unit: Unit,
  credits: readonly WalletTransactionRow[],
): Promise<null | Refusal> {
  for (const waiting of credits.filter((one) => one.transaction_status === 'pending')) {
    const wallet = await lockRecord(unit, WALLETS, waiting.wallet_id);
    if (wallet === null) return notFound(WALLETS.name, waiting.wallet_id);
    const done = await complete(unit, wallet, waiting);
    if (isRefusal(done)) return done;
    await postGroups(unit, [
      {
        customerId: waiting.customer_id,
        ...{ kind: 'wallet.credit', entityType: 'wallet_transaction', entityId: waiting.id },
        currency: waiting.currency,
        postings: postingsOfCredit({ walletId: wallet.id, worth: waiting.amount }),
      },
    ]);
  }
  return null;
}

/** Credits that were never paid do not arrive any more. */
export async function failPurchase(unit: Unit, invoiceId: string): Promise<null | Refusal> {
  const waiting = await findPurchases(unit, invoiceId);
  for (const { id } of waiting.filter((one) => one.transaction_status === 'pending')) {
    const failed = await moveRecord(unit, WALLET_TRANSACTIONS, {
      ...{ target: { id }, lifecycle: WALLET_TRANSACTION, move: 'fail', to: 'failed' },
      told: (after) => Promise.resolve(walletTransactionToDto(after)),
    });
    if (isRefusal(failed)) return failed;
  }
  return null;
}
