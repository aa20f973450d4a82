import type { Client } from 'pg';
import type { Occasion } from '../../../billing-api/records/occasion.js';
import { mustWrite } from '../../../billing-api/records/unit.js';
import { formatInstant } from '../../../contract/instant.js';
import { EVENT_REMOVAL_LOCK, withAdvisoryLock } from '../../../sql/session.js';
import { done, writing } from '../as-operator.js';
import { awaitCounted } from './await-counted.js';
import type { ErasureStores } from './erasure-stores.js';
import {
  beginErasure,
  countErased,
  finishErasure,
  giveUpErasure,
  readGenerations,
  recordCounts,
  type Erasure,
} from './erasures-store.js';
import type { ErasedCustomer } from './named-customer.js';
import { whileQuiet } from './quiet-partitions.js';
import {
  awaitMinutes,
  beginRemovingMinutes,
  countEventsByHour,
  countEventsOfBatches,
  countOtherRows,
  removeRows,
  removeUnreadMinutes,
  type Bound,
  type RemovedRows,
} from './stored-rows.js';

/** What was removed; of an erasure that had been interrupted, `events` counts all its runs. */
export type Erased = RemovedRows & { readonly id: string; readonly events: number };

/**
 * Notes what goes and has the minutes rewritten, both as of one moment at which no batch is under
 * way. What is counted later is no part of it. @returns below which offsets events go.
 */
function cut(
  session: Client,
  { database, clickhouse }: ErasureStores,
  erasure: Erasure,
): Promise<readonly Bound[]> {
  return whileQuiet(session, async ({ bounds, lastBatches }) => {
    const hours = await countEventsByHour(clickhouse, erasure, bounds);
    const batches = await countEventsOfBatches(clickhouse, erasure, lastBatches);
    // First of all: who takes a partition from now on must know what will be missing.
    await recordCounts(database, erasure, { bounds, hours, batches });
    await beginRemovingMinutes(clickhouse, erasure);
    return bounds;
  });
}

/** Ends the erasure, and leaves it in the audit trail. */
async function finish(
  { database }: ErasureStores,
  occasion: Occasion,
  { erasure, removed }: { readonly erasure: Erasure; readonly removed: RemovedRows },
): Promise<number> {
  return done(
    await mustWrite(writing(database), occasion, async ({ tx, changes }) => {
      const finishedAt = await finishErasure(tx, erasure);
      const events = await countErased(tx, erasure);
      changes.push({
        entityType: 'event_erasure',
        entityId: erasure.id,
        action: 'created',
        before: null,
        after: {
          id: erasure.id,
          customer: erasure.customer.name,
          events,
          duplicates: removed.duplicates,
          dead_letters: removed.letters,
          started_at: formatInstant(erasure.startedAt),
          finished_at: formatInstant(finishedAt),
        },
      });
      return events;
    }),
  );
}

/**
 * Erases all events of a customer that were accepted before now (docs/internals/architecture.md
 * D-019), while aggregators run. Cut short at any point, it is repeated and ends the same.
 * @throws VerbRefused when events are not being counted, or always a batch is under way;
 *   DependencyError when a store fails.
 */
export async function eraseCustomer(
  stores: ErasureStores,
  occasion: Occasion,
  customer: ErasedCustomer,
): Promise<Erased> {
  const { database, clickhouse } = stores;
  const log = await stores.openLog();
  return withAdvisoryLock(database.url, EVENT_REMOVAL_LOCK, async (session) => {
    await awaitCounted(database, log);
    const erasure = await beginErasure(database, occasion.environment, customer);
    try {
      // What an interrupted run has noted must be gone before anything is counted again.
      if (erasure.noted !== null) {
        const { customer: ofNoted, bounds: below } = erasure.noted;
        const { environment } = erasure;
        await removeRows(clickhouse, { environment, customer: ofNoted }, below);
      }
      const bounds = await cut(session, stores, erasure);
      const removed = await countOtherRows(clickhouse, erasure, bounds);
      await removeRows(clickhouse, erasure, bounds);
      await awaitMinutes(clickhouse);
      // Also of an attempt that nobody knows of any more, since its meter was changed back.
      const generations = await readGenerations(database, erasure.environment);
      await removeUnreadMinutes(clickhouse, erasure, generations);
      const events = await finish(stores, occasion, { erasure, removed });
      return { id: erasure.id, events, ...removed };
    } catch (error) {
      // Backfills need not wait for an erasure that has removed nothing.
      await giveUpErasure(database, erasure).catch(() => undefined);
      throw error;
    }
  });
}
