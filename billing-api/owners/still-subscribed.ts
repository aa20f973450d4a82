import { notReferenced, type Guard } from '../records/change-record.js';
import { SUBSCRIPTION } from '../domain/lifecycle/subscription-lifecycle.js';
import { WALLET } from '../domain/lifecycle/money-lifecycle.js';
import { isInGroup } from '../records/conditions.js';

/** A guard: a wallet that is not closed needs its customer (docs/domain.md 4). */
export const HAS_NO_WALLET: Guard = notReferenced(
  {
    table: 'wallets',
    column: 'customer_id',
    having: isInGroup('wallet_status', WALLET, 'open'),
  },
  'has a wallet that is not closed; terminate it first',
);

/** A guard: a subscription that goes on needs what this column of it names (docs/domain.md 4). */
export function notSubscribed(column: string): Guard {
  const having = isInGroup('subscription_status', SUBSCRIPTION, 'alive');
  return notReferenced(
    { table: 'subscriptions', column, having },
    'has a subscription that is not cancelled; cancel it first',
  );
}
