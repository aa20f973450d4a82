import { sql } from 'slonik';
import { z } from 'zod';
import {
  addAt,
  decimalOf,
  minOf,
  sumOf,
  ZERO,
  type Decimal,
} from '../../../contract/number/decimal.js';
import { instantColumn } from '../../../sql/columns.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { PAYMENTS } from '../../declarations/money/payment.resource.js';
import {
  WALLET_TRANSACTIONS,
  type WalletTransactionRow,
} from '../../declarations/money/wallet-transaction.resource.js';
import { WALLETS, type WalletRow } from '../../declarations/money/wallet.resource.js';
import type { WalletShare } from '../../domain/ledger/postings.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { WALLET } from '../../domain/lifecycle/money-lifecycle.js';
import { creditsOfMoney, moneyOfCredits } from '../../domain/wallet/credits.js';
import {
  leftToReturn,
  returnedCredits,
  type CreditTerms,
  type UsedCredit,
} from '../../domain/wallet/returned-credits.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { lockRecordsForChange } from '../../records/find-record.js';
import type { Unit } from '../../records/unit.js';
import { addCredits, debitCredits } from '../../money/wallets/move-credits.js';
import { lockRefundWallet } from '../../money/wallets/wallets-store.js';

/** Credits of a wallet that paid an invoice, by a debit. */
type Paid = {
  readonly debit: WalletTransactionRow;
  /** What the debit paid of it, in money. */
  readonly paid: Decimal;
  /** What of that was not refunded. */
  readonly amount: Decimal;
};

/** What paid an invoice: credits, or (null) anything else. */
type Payer = { readonly credits: Paid | null; readonly amount: Decimal };

/** What PRE_PAID wallets paid of an invoice when it was finalized. */
async function findPrepaid({ tx }: Unit, { id }: InvoiceRow): Promise<readonly Paid[]> {
  const debits = await tx.any(sql.type(WALLET_TRANSACTIONS.row)`
    SELECT * FROM wallet_transactions
    WHERE reference_id = ${id} AND reference_type = 'INVOICE' AND type = 'debit'
      AND transaction_reason = 'CREDIT_ADJUSTMENT' AND ${isOfEnvironment}
    ORDER BY created_at, id`);
  return debits.map((debit) => {
    const paid = sumOf(debit.lines_paid.map(({ amount }) => decimalOf(amount)));
    return { debit, paid, amount: paid };
  });
}

/** What payments by credits of POST_PAID wallets paid of an invoice. */
async function findByCredits({ tx }: Unit, { id }: InvoiceRow): Promise<readonly Paid[]> {
  const payments = await tx.any(sql.type(PAYMENTS.row)`
    SELECT * FROM payments
    WHERE destination_id = ${id} AND destination_type = 'INVOICE'
      AND payment_method_type = 'CREDITS'
      AND payment_status IN ('SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED') AND ${isOfEnvironment}
    ORDER BY created_at, id`);
  if (payments.length === 0) return [];
  const ids = payments.map((payment) => payment.id);
  const debits = await tx.any(sql.type(WALLET_TRANSACTIONS.row)`
    SELECT * FROM wallet_transactions
    WHERE reference_id = ANY (${sql.array(ids, 'text')}) AND reference_type = 'PAYMENT'
      AND type = 'debit' AND transaction_reason = 'INVOICE_PAYMENT' AND ${isOfEnvironment}`);
  const debitOf = new Map(debits.map((debit) => [debit.reference_id, debit]));
  return payments.flatMap(({ id: paymentId, amount: paid, refunded_amount: refunded }) => {
    const debit = debitOf.get(paymentId);
    return debit === undefined ? [] : [{ debit, paid, amount: paid.minus(refunded) }];
  });
}

/**
 * What paid an invoice, in the order in which it stays given back: first what was refunded, money
 * and what was set off, then credits.
 */
async function findPayers(unit: Unit, row: InvoiceRow, setOff: Decimal): Promise<readonly Payer[]> {
  const byCredits = [...(await findByCredits(unit, row)), ...(await findPrepaid(unit, row))];
  const all = row.amount_paid.plus(row.total_prepaid_credits_applied).plus(setOff);
  const money = all.minus(sumOf(byCredits.map(({ amount }) => amount)));
  return [
    { credits: null, amount: money },
    ...byCredits.map((credits) => ({ credits, amount: credits.amount })),
  ];
}

const termsRow = z.object({
  id: z.string(),
  priority: WALLET_TRANSACTIONS.columns.priority.schema,
  expiry_date: instantColumn.nullable(),
});

/** The credits that debits used, in the order of their use, by the ids of the debits. */
async function findUsed(
  { tx }: Unit,
  debits: readonly WalletTransactionRow[],
): Promise<(debit: WalletTransactionRow) => readonly UsedCredit[]> {
  const ids = debits.flatMap((debit) => debit.credits_used.map(({ transaction_id: id }) => id));
  const rows = await tx.any(sql.type(termsRow)`
    SELECT id, priority, expiry_date FROM wallet_transactions
    WHERE id = ANY (${sql.array([...new Set(ids)], 'text')}) AND ${isOfEnvironment}`);
  const termsOf = new Map(
    rows.map(({ id, priority, expiry_date: expiryMs }) => [id, { priority, expiryMs }]),
  );
  return ({ credits_used: used }) =>
    used.flatMap(({ transaction_id: id, credits }) => {
      const terms = termsOf.get(id);
      return terms === undefined ? [] : [{ ...terms, credits: decimalOf(credits) }];
    });
}

/** The credits of a debit that so much of the money that it paid is worth. */
function creditsBack({ debit, paid }: Paid, amount: Decimal): Decimal {
  if (amount.equals(paid)) return debit.credit_amount;
  return minOf(creditsOfMoney(amount, debit.conversion_rate), debit.credit_amount);
}

/** Puts credits that had paid an invoice into a locked wallet, each with its terms. */
async function addReturned(
  unit: Unit,
  { wallet, invoiceId }: { readonly wallet: WalletRow; readonly invoiceId: string },
  credits: readonly UsedCredit[],
): Promise<WalletShare & { readonly wallet: WalletRow }> {
  let after = wallet;
  let worth = ZERO;
  for (const { credits: amount, priority, expiryMs: expiryDate } of credits) {
    const moved = await addCredits(unit, after, {
      credits: amount,
      reason: 'INVOICE_VOID_REFUND',
      priority,
      expiryDate,
      reference: { type: 'INVOICE', id: invoiceId },
    });
    after = moved.wallet;
    worth = worth.plus(moved.transaction.amount);
  }
  return { walletId: wallet.id, worth, wallet: after };
}

const NO_TERMS: CreditTerms = { priority: null, expiryMs: null };

/** What each wallet gets in all. */
function byWallet(shares: readonly WalletShare[]): readonly WalletShare[] {
  const worths = new Map<string, Decimal>();
  for (const { walletId, worth } of shares) addAt(worths, walletId, worth);
  return [...worths].map(([walletId, worth]) => ({ walletId, worth }));
}

/**
 * Gives what paid a voided invoice back: credits to the wallets that had them, with their terms;
 * everything else, and credits of a wallet that was closed meanwhile, to the wallet that money goes
 * back to (docs/domain.md 18). What was given back before stays so, and where that is more than was
 * paid, the rest is taken from that wallet, below 0 where it has been used.
 */
export async function returnPaid(
  unit: Unit,
  row: InvoiceRow,
  { setOff, givenBack }: { readonly setOff: Decimal; readonly givenBack: Decimal },
): Promise<readonly WalletShare[]> {
  const { left, missing } = leftToReturn(await findPayers(unit, row, setOff), givenBack);
  const ofWallets = left.flatMap(([{ credits }, amount]) =>
    credits === null ? [] : [{ credits, amount }],
  );
  const usedBy = await findUsed(
    unit,
    ofWallets.map(({ credits }) => credits.debit),
  );
  const wallets = new Map(
    await lockRecordsForChange(
      unit,
      WALLETS,
      ofWallets.map(({ credits }) => credits.debit.wallet_id),
    ),
  );
  const shares: WalletShare[] = [];
  const toRefundWallet: UsedCredit[] = left.flatMap(([{ credits }, amount]) =>
    credits === null ? [{ ...NO_TERMS, credits: amount }] : [],
  );
  for (const { credits, amount } of ofWallets) {
    const { debit } = credits;
    const back = returnedCredits(usedBy(debit), creditsBack(credits, amount));
    const wallet = wallets.get(debit.wallet_id);
    if (wallet === undefined || !isIn(WALLET, 'usable', wallet.wallet_status)) {
      const worthOf = (one: UsedCredit) => moneyOfCredits(one.credits, debit.conversion_rate);
      toRefundWallet.push(...back.map((one) => ({ ...one, credits: worthOf(one) })));
      continue;
    }
    const added = await addReturned(unit, { wallet, invoiceId: row.id }, back);
    wallets.set(wallet.id, added.wallet);
    shares.push(added);
  }
  const settled = await settleRefundWallet(unit, row, { credits: toRefundWallet, missing });
  return byWallet([...shares, ...settled]);
}

/** What the wallet that money goes back to gets, or has to give again. */
async function settleRefundWallet(
  unit: Unit,
  row: InvoiceRow,
  { credits, missing }: { readonly credits: readonly UsedCredit[]; readonly missing: Decimal },
): Promise<readonly WalletShare[]> {
  if (credits.length === 0) return takeBack(unit, row, missing);
  const { customer_id: customerId, currency } = row;
  const wallet = await lockRefundWallet(unit, { customerId, currency });
  const added = await addReturned(unit, { wallet, invoiceId: row.id }, credits);
  return [added];
}

/** Takes money that was given back of an invoice, and is of nobody, from its customer again. */
export async function takeBack(
  unit: Unit,
  { id, customer_id: customerId, currency }: InvoiceRow,
  amount: Decimal,
): Promise<readonly WalletShare[]> {
  if (amount.isZero()) return [];
  const wallet = await lockRefundWallet(unit, { customerId, currency });
  await debitCredits(unit, wallet, {
    credits: amount,
    reason: 'MANUAL_BALANCE_DEBIT',
    reference: { type: 'INVOICE', id },
    description: 'Credit for unused time of a voided invoice that was not paid',
  });
  return [{ walletId: wallet.id, worth: amount.negated() }];
}
