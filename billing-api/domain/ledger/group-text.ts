import { plain } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import type { LedgerGroup } from './postings.js';

/**
 * Everything in a group as one text, which its hash is made of: a row that is changed in the
 * database makes another text.
 */
export function groupText(id: string, group: LedgerGroup): string {
  const { customerId, kind, entityType, entityId, occurrence, currency, postedAt } = group;
  const head = [id, customerId, kind, entityType, entityId, occurrence, currency];
  const postings = group.postings.map(({ account, walletId, amount }) =>
    [account, walletId ?? '-', plain(amount)].join(' '),
  );
  return [[...head, formatInstant(postedAt)].join(' '), ...postings].join('\n');
}
