import { sql } from 'slonik';
import { z } from 'zod';
import { plain } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { groupText } from '../../domain/ledger/group-text.js';
import type { LedgerGroup } from '../../domain/ledger/postings.js';
import type { Unit } from '../../records/unit.js';

/** What a group says of itself, without what its unit knows. */
export type NewGroup = Omit<LedgerGroup, 'postedAt' | 'occurrence'> & {
  readonly occurrence?: number;
};

/**
 * Posts movements of money in the transaction that makes them; nothing else moves a balance. Those
 * that move nothing are left out. From here on, until the unit ends, others wait who post for the
 * same customers: so it comes last.
 * @throws when the postings of a group do not add up to 0, or when it was posted before.
 */
export async function postGroups(unit: Unit, groups: readonly NewGroup[]): Promise<void> {
  const { now: postedAt } = unit;
  const rows = groups
    .filter(({ postings }) => postings.length > 0)
    .map((group) => {
      const id = unit.newId('ledger');
      const complete = { occurrence: 0, ...group, postedAt };
      return {
        id,
        customer_id: group.customerId,
        kind: group.kind,
        currency: group.currency,
        entity_type: group.entityType,
        entity_id: group.entityId,
        occurrence: complete.occurrence,
        posted_at: formatInstant(postedAt),
        text: groupText(id, complete),
        postings: group.postings.map(({ account, walletId, amount }, position) => ({
          id: unit.newId('posting'),
          position,
          account,
          wallet_id: walletId,
          amount: plain(amount),
        })),
      };
    });
  if (rows.length === 0) return;
  await unit.tx.query(sql.type(z.unknown())`
    SELECT post_ledger_groups(${JSON.stringify(rows)}::jsonb)`);
}
