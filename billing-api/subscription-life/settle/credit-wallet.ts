import type { Decimal } from '../../../contract/number/decimal.js';
import type { WalletTransactionRow } from '../../declarations/money/wallet-transaction.resource.js';
import {
  payerOf,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { postingsOfRefund } from '../../domain/ledger/postings.js';
import { postGroups } from '../../money/ledger/post-groups.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { addCredits } from '../../money/wallets/move-credits.js';
import { lockRefundWallet } from '../../money/wallets/wallets-store.js';

/**
 * Gives what a subscription was charged for time after its end to a wallet of the customer
 * who paid it
 * (docs/domain.md 24.6, 25.3); null when that is nothing.
 */
export async function creditWallet(
  unit: Unit,
  row: SubscriptionRow,
  amount: Decimal,
): Promise<WalletTransactionRow | null | Refusal> {
  if (amount.isZero()) return null;
  const { id, currency } = row;
  const customerId = payerOf(row);
  const wallet = await lockRefundWallet(unit, { customerId, currency });
  if (isRefusal(wallet)) return wallet;
  const moved = await addCredits(unit, wallet, {
    credits: amount,
    reason: 'SUBSCRIPTION_CREDIT_GRANT',
    reference: { type: 'EXTERNAL', id },
    description: 'Unused time of charges in advance',
  });
  if (isRefusal(moved)) return moved;
  await postGroups(unit, [
    {
      customerId,
      currency,
      kind: 'subscription.credited',
      // A subscription may be credited more than once.
      entityType: 'wallet_transaction',
      entityId: moved.transaction.id,
      postings: postingsOfRefund(amount, wallet.id),
    },
  ]);
  return moved.transaction;
}
