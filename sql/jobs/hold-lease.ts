import { messageOf } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import { startRepeated } from '../../runtime/repeated.js';
import type { Database } from '../pool.js';
import { renew, type Claim } from './job-table.js';

/** Renewals within the length of a lease. */
const RENEWALS = 4;

/** A claim that is kept up while its item runs. */
export type Lease = {
  /** Aborts when the claim is lost, or could not be renewed for the length of the lease. */
  readonly signal: AbortSignal;
  readonly release: () => Promise<void>;
};

/** Renews a claim until it is released. */
export function holdLease(held: {
  readonly database: Database;
  readonly claim: Claim;
  readonly leaseSeconds: number;
  readonly log: Log;
}): Lease {
  const { database, claim, leaseSeconds, log } = held;
  const lost = new AbortController();
  let renewedAt = performance.now();
  const everyMs = (leaseSeconds * 1_000) / RENEWALS;
  const release = startRepeated({
    failure: 'the claim on a job could not be renewed; tried again',
    everyMs,
    firstDelayMs: everyMs,
    log,
    work: async () => {
      const askedAt = performance.now();
      try {
        if (await renew(database.slonik, claim, leaseSeconds)) renewedAt = askedAt;
        else lost.abort(new Error('another process has taken the job over'));
      } catch (error) {
        if (performance.now() - renewedAt < leaseSeconds * 1_000) throw error;
        lost.abort(new Error(`the claim on the job has ended: ${messageOf(error)}`));
      }
    },
  });
  return { signal: lost.signal, release };
}
