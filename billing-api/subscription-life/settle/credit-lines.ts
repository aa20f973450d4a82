import { sql } from 'slonik';
import { plain, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { formatInstant, type InstantMs, type Interval } from '../../../contract/instant.js';
import { noRows } from '../../../sql/columns.js';
import type { WalletTransactionRow } from '../../declarations/money/wallet-transaction.resource.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { roundToMinorDigits } from '../../domain/money/money.js';
import { CURRENT_ENVIRONMENT } from '../../records/conditions.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { creditWallet } from './credit-wallet.js';
import { findUnused, type UnusedItem } from './find-unused.js';

/** What is given back of the charges of a line item, and for which time. */
export type LineCredit = {
  readonly lineItemId: string;
  /** Rounded to the currency; 0 is left out. */
  readonly amount: Decimal;
  readonly period: Interval;
};

/**
 * What is unused of charges in advance, rounded line by line, less what an invoice has taken off
 * already, by line item.
 */
export function creditsOf(
  unused: readonly UnusedItem[],
  currency: string,
  taken: ReadonlyMap<string, Decimal> = new Map(),
): readonly LineCredit[] {
  return unused.map(({ row: { id: lineItemId }, exact, period }) => {
    // Absent means zero: the invoice has taken nothing of it off.
    const amount = roundToMinorDigits(exact, currency).minus(taken.get(lineItemId) ?? ZERO);
    return { lineItemId, amount, period };
  });
}

/**
 * Gives charges of line items back to a wallet, and keeps for which time that was, so that no later
 * credit gives it back again (docs/domain.md 23.1). Null where it is nothing.
 */
export async function creditLines(
  unit: Unit,
  subscription: SubscriptionRow,
  credits: readonly LineCredit[],
): Promise<WalletTransactionRow | null | Refusal> {
  const sum = sumOf(credits.map(({ amount }) => amount));
  const transaction = await creditWallet(unit, subscription, sum);
  if (transaction === null || isRefusal(transaction)) return transaction;
  const rows = credits
    .filter(({ amount }) => !amount.isZero())
    .map(({ lineItemId, amount, period: { startMs, endMs } }) => {
      return [lineItemId, formatInstant(startMs), formatInstant(endMs), plain(amount)];
    });
  await unit.tx.query(sql.type(noRows)`
    INSERT INTO line_credits (tenant_id, environment_id, wallet_transaction_id,
      subscription_line_item_id, period_start, period_end, amount)
    SELECT ${CURRENT_ENVIRONMENT}, ${transaction.id}, given.*
    FROM ${sql.unnest(rows, ['text', 'timestamptz', 'timestamptz', 'numeric'])} AS given`);
  return transaction;
}

/**
 * Gives back what is unused at an instant of everything that a subscription was charged in advance:
 * nothing is owed from then on. Its invoices are locked (`lockUnused`).
 */
export async function creditUnused(
  unit: Unit,
  loaded: BilledSubscription,
  atMs: InstantMs,
): Promise<WalletTransactionRow | null | Refusal> {
  const { subscription } = loaded;
  const unused = await findUnused(unit, loaded, atMs);
  return creditLines(unit, subscription, creditsOf(unused, subscription.currency));
}
