import { notReferenced, type Guard } from '../records/change-record.js';
import { isOtherThan } from '../records/conditions.js';

/** A guard: a subscription that goes on needs what this column of it names (docs/domain.md 4). */
export function notSubscribed(column: string): Guard {
  const having = isOtherThan('subscription_status', 'cancelled');
  return notReferenced(
    { table: 'subscriptions', column, having },
    'has a subscription that is not cancelled',
  );
}
