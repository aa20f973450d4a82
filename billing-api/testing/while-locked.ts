import { sql, type FragmentSqlToken } from 'slonik';
import { expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { waitingSessions } from '../../load-tests/harness/waiting-sessions.js';
import type { Database } from '../../sql/pool.js';

/** Lets the owner take a lock by a statement that answers one row, and keeps it until let go. */
export async function holdLock(database: Database, statement: FragmentSqlToken) {
  let letGo = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let begun = (): void => undefined;
  const isHeld = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const held = ownerOf(database).transaction(async (tx) => {
    await tx.one(sql.type(z.object({ id: z.string() }))`${statement}`);
    begun();
    await released;
  });
  await isHeld;
  return { letGo, held };
}

/** Locks a row until it is let go; `which` is its table with a condition that selects it. */
export function holdRow(database: Database, which: FragmentSqlToken) {
  return holdLock(database, sql.fragment`SELECT id FROM ${which} LIMIT 1 FOR UPDATE`);
}

/** Locks a subscription until it is let go; `which` selects it. */
export function holdSubscription(database: Database, which: FragmentSqlToken) {
  return holdRow(database, sql.fragment`subscriptions WHERE ${which}`);
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

/**
 * Begins calls one after the other while a row is locked, each when those before it wait, and lets
 * the row go when all of them do; `which` is its table with a condition that selects it.
 */
export async function inTurnWhileHeld<T>(
  database: Database,
  which: FragmentSqlToken,
  calls: readonly (() => Promise<T>)[],
): Promise<readonly T[]> {
  const { letGo, held } = await holdRow(database, which);
  const begun: Promise<T>[] = [];
  try {
    for (const call of calls) {
      begun.push(call());
      await expect
        .poll(() => waitingSessions(ownerOf(database)), { timeout: 30_000, interval: 20 })
        .toBeGreaterThanOrEqual(begun.length);
    }
    letGo();
    return await Promise.all(begun);
  } finally {
    letGo();
    await held;
  }
}
