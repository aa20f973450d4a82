import { sql, type FragmentSqlToken } from 'slonik';
import { expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { waitingSessions } from '../../load-tests/harness/waiting-sessions.js';
import type { Database } from '../../sql/pool.js';

/** Locks a subscription until it is let go; `which` selects it. */
export async function holdSubscription(database: Database, which: FragmentSqlToken) {
  let letGo = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let begun = (): void => undefined;
  const isHeld = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const held = ownerOf(database).transaction(async (tx) => {
    await tx.one(sql.type(z.object({ id: z.string() }))`
      SELECT id FROM subscriptions WHERE ${which} LIMIT 1 FOR UPDATE`);
    begun();
    await released;
  });
  await isHeld;
  return { letGo, held };
}

/** What is done while a subscription is locked. */
type Locked<T> = {
  readonly subscriptionId: string;
  /** Begins calls that need the subscription. */
  readonly begin: () => Promise<T>;
  /** So many sessions wait for it before it is let go. */
  readonly waiting: number;
  /** Done then, before it is let go. */
  readonly then?: () => Promise<void>;
};

/** Lets calls begin that all find a subscription locked, and lets it go when they wait. */
export async function whileLocked<T>(
  database: Database,
  { subscriptionId, begin, waiting, then = () => Promise.resolve() }: Locked<T>,
): Promise<T> {
  const { letGo, held } = await holdSubscription(database, sql.fragment`id = ${subscriptionId}`);
  try {
    const begun = begin();
    await expect
      .poll(() => waitingSessions(ownerOf(database)), { timeout: 30_000, interval: 20 })
      .toBeGreaterThanOrEqual(waiting);
    await then();
    letGo();
    return await begun;
  } finally {
    letGo();
    await held;
  }
}
