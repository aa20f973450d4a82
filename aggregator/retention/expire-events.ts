import { DAY_MS, formatInstant, type InstantMs } from '../../contract/instant.js';
import type { Log } from '../../runtime/log.js';
import type { ExpiredMonths } from './expired-months.js';
import { nextMonth, type StoredMonths } from './stored-months.js';

/**
 * From the expiry of a month until its removal. Readers that began before, or that know for
 * five minutes that nothing has expired (billing-api/usage/expired), have ended by then.
 */
export const REMOVAL_DELAY_SECONDS = 600;

/** The clocks of servers, and of a log's leaders, differ by less. */
const CLOCKS_MS = DAY_MS;

/**
 * Runs what must not run beside an erasure of events, or another turn; null when one runs. `work`
 * asserts that it is still alone before a step that cannot be taken back.
 */
export type Alone = <T>(
  work: (assertAlone: () => Promise<void>) => Promise<T>,
) => Promise<T | null>;

type Stores = {
  readonly months: ExpiredMonths;
  readonly stored: StoredMonths;
  readonly alone: Alone;
};

export type RetentionTerms = {
  /** Null keeps raw events for ever; months that have expired before are removed all the same. */
  readonly retentionDays: number | null;
  readonly nowMs: InstantMs;
  readonly removalDelaySeconds: number;
  /**
   * An instant: whatever the log appended before it is counted. Null when that is not known.
   * Only asked when a month is due.
   */
  readonly finishedTo: () => Promise<InstantMs | null>;
};

/** Removes what has expired, also what a process did not come to that was killed meanwhile. */
async function removeExpired(
  { months, stored }: Stores,
  { removalDelaySeconds }: RetentionTerms,
  logger: Log,
): Promise<void> {
  const expired = await months.list(removalDelaySeconds);
  const last = expired.at(-1);
  if (last === undefined) return;
  for (const monthMs of await stored.list()) {
    if (monthMs > last.monthMs) break;
    // Nothing can have come since it was counted; if it has, it is not removed unnoticed.
    await stored.count(monthMs);
    await stored.remove(monthMs);
    logger.info({ month: formatInstant(monthMs) }, 'raw events removed (docs/operations.md 15)');
  }
  for (const { monthMs, isRemoved } of expired) if (!isRemoved) await months.noteRemoved(monthMs);
}

/** Months that are due, in order; none while anything that they may hold is not counted. */
async function dueMonths(
  { months, stored }: Stores,
  { retentionDays, nowMs, finishedTo }: RetentionTerms,
  logger: Log,
): Promise<readonly InstantMs[]> {
  if (retentionDays === null) return [];
  const state = await months.state();
  // A clock that is wrong must not remove anything: the slower one decides.
  const keptFromMs = Math.min(nowMs, state.nowMs) - retentionDays * DAY_MS;
  const expired = (await months.list(0)).at(-1)?.monthMs ?? -Infinity;
  const old = (await stored.list()).filter(
    (monthMs) => monthMs > expired && nextMonth(monthMs) <= keptFromMs,
  );
  if (old.length === 0) return [];
  if (state.isErasing) {
    logger.warn(
      {},
      'an erasure was cut short: no raw events expire until it is run again (docs/operations.md 14)',
    );
    return [];
  }
  if (state.isBackfilling) {
    logger.warn({}, 'raw events are due for removal and kept until all meters are applied to them');
    return [];
  }
  const finishedMs = await finishedTo();
  if (finishedMs === null) {
    logger.warn({}, 'raw events are due for removal and kept until all partitions have caught up');
    return [];
  }
  return old.filter((monthMs) => nextMonth(monthMs) <= finishedMs - CLOCKS_MS);
}

/**
 * Lets the months that are due expire, each after its events were counted. No erasure removes any
 * of them meanwhile.
 */
async function expireDue(
  stores: Stores,
  terms: RetentionTerms,
  { logger, assertAlone }: { readonly logger: Log; readonly assertAlone: () => Promise<void> },
): Promise<void> {
  const { months, stored } = stores;
  for (const monthMs of await dueMonths(stores, terms, logger)) {
    await stored.forgetCount(monthMs);
    const environments = await stored.count(monthMs);
    await assertAlone();
    if (!(await months.expire(monthMs, environments))) return;
    const beginAt = formatInstant(nextMonth(monthMs));
    logger.info({ beginAt }, 'raw events appended before this instant have expired');
  }
}

/**
 * One turn of retention (D-020): lets the months of append that are due expire, and removes the
 * events of those that expired a while ago. Every step may be repeated, and a process may be killed
 * between any two. While another process lets months expire, or an operator erases events, this one
 * only removes.
 * @throws DependencyError.
 */
export async function expireEvents(
  stores: Stores,
  terms: RetentionTerms,
  logger: Log,
): Promise<void> {
  if (terms.retentionDays !== null) {
    await stores.alone((assertAlone) => expireDue(stores, terms, { logger, assertAlone }));
  }
  await removeExpired(stores, terms, logger);
}
