import { sql } from 'slonik';
import { z } from 'zod';
import { integerColumn } from '../../../sql/columns.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { lockRecordsForChange } from '../../records/find-record.js';
import type { StatementUnit, Unit } from '../../records/unit.js';
import type { StoredQuery } from './find-invoice-queries.js';

/** A state of the invoices of a subscription: another one differs in the sum or in the count. */
export type Revision = {
  readonly count: number;
  /** Of the versions of all invoices, which only rise. */
  readonly versions: number;
  /** The greatest `billing_sequence`; 0 without invoices. */
  readonly lastSequence: number;
};

/** That of a subscription without invoices. */
export const NO_INVOICES: Revision = { count: 0, versions: 0, lastSequence: 0 };

const revisionRow = z.object({
  subscription_id: z.string(),
  count: integerColumn,
  versions: integerColumn,
  last_sequence: z.number().int(),
});

/** The state of the invoices of these subscriptions. One statement for all. */
export async function findRevisions(
  { tx }: StatementUnit,
  subscriptionIds: readonly string[],
): Promise<(subscriptionId: string) => Revision> {
  const rows = await tx.any(sql.type(revisionRow)`
    SELECT subscription_id, count(*) AS count, sum(version) AS versions,
      coalesce(max(billing_sequence), 0) AS last_sequence
    FROM invoices
    WHERE subscription_id = ANY (${sql.array([...subscriptionIds], 'text')}) AND ${isOfEnvironment}
    GROUP BY subscription_id`);
  const found = new Map(
    rows.map(({ subscription_id: id, count, versions, last_sequence: lastSequence }) => [
      id,
      { count, versions, lastSequence },
    ]),
  );
  return (id) => found.get(id) ?? NO_INVOICES;
}

/** A subscription that is as the computation has seen it, and stays so until the unit ends. */
export type HeldSubscription = {
  readonly subscription: SubscriptionRow;
  readonly revision: Revision;
};

type Seen = Pick<StoredQuery, 'loaded' | 'revision'>;

/**
 * Locks the subscriptions of computed invoices, and their grouped children, so that nobody else
 * stores an invoice of them until the unit ends. Those that have changed since they were read, or
 * whose invoices have, are left out: they must be computed again.
 */
export async function holdUnchanged(
  unit: Unit,
  queries: readonly StoredQuery[],
): Promise<ReadonlyMap<string, HeldSubscription>> {
  const ids = queries.flatMap(({ task, children }) => [
    task.subscriptionId,
    ...children.map(({ loaded }) => loaded.subscription.id),
  ]);
  const rows = await lockRecordsForChange(unit, SUBSCRIPTIONS, ids);
  const revisions = await findRevisions(unit, ids);
  const held = new Map<string, HeldSubscription>();
  const unchanged = ({ loaded, revision: seen }: Seen): readonly HeldSubscription[] => {
    const { id, version } = loaded.subscription;
    const subscription = rows.get(id);
    const revision = revisions(id);
    const isSame =
      subscription?.version === version &&
      revision.count === seen.count &&
      revision.versions === seen.versions;
    return isSame ? [{ subscription, revision }] : [];
  };
  for (const query of queries) {
    const parts = [query, ...query.children];
    const own = parts.flatMap(unchanged);
    if (own.length < parts.length) continue;
    for (const one of own) held.set(one.subscription.id, one);
  }
  return held;
}
