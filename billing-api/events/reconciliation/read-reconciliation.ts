import type { Environment } from '../../../contract/environment.js';
import type { Clock } from '../../../runtime/clock.js';
import { readCheckpoints, type Checkpoints } from '../../usage/watermark/checkpoints.js';
import { boundsOf, type HoursQuery } from './finished-events.js';
import type { PendingLog } from '../pending-log.js';
import { addErased, readErasureClock } from './erased-events.js';
import { HourLedger, type Reconciliation } from './hour-ledger.js';
import { hoursFrom, type ReconciliationRequest } from './reconciliation-hours.js';
import { readOutcomes, type OutcomeDependencies } from './read-outcomes.js';
import { askRawEventsBegin } from '../../usage/expired/raw-events-begin.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, Refusal } from '../../records/refusal.js';

export type ReconciliationDependencies = OutcomeDependencies & {
  readonly clock: Clock;
  readonly pendingLog: PendingLog;
};

/** Events of the log that are not finished, by hour. */
async function addPending(
  { pendingLog }: ReconciliationDependencies,
  ledger: HourLedger,
  of: { readonly environment: Environment; readonly checkpoints: Checkpoints },
): Promise<Refusal | null> {
  const { checkpoints, environment } = of;
  const all = { environment, checkpoints, partition: null };
  const end = await pendingLog.scan(all, ({ record }) => {
    const { length } = record.events;
    ledger.add(record.receivedAtMs, { accepted: length, pending: length });
  });
  if (end === 'complete') return null;
  return new Refusal(
    'service_unavailable',
    'too many events are waiting to be counted one by one; try again later',
  );
}

async function addFinished(
  dependencies: ReconciliationDependencies,
  ledger: HourLedger,
  query: HoursQuery & { readonly environment: Environment },
): Promise<Refusal | null> {
  const { finishedEvents, expiredEvents } = dependencies;
  // Once: what was appended before it counts as expired, and what was appended later as stored. Not
  // what was known minutes ago, since an erasure notes no event that has expired by now.
  const beginMs = await askRawEventsBegin(dependencies.database);
  const [duplicates, expired, outcomes] = await Promise.all([
    finishedEvents.duplicatesByHour(query),
    expiredEvents.countByHour(query.environment, query.hours, beginMs),
    readOutcomes(dependencies, { ...query, beginMs }),
  ]);
  if (isRefusal(outcomes)) return outcomes;
  for (const { hourMs, copies, conflicts } of duplicates) {
    ledger.add(hourMs, { duplicate: copies, conflict: conflicts });
  }
  for (const { hourMs, ...hour } of expired) ledger.add(hourMs, hour);
  for (const { hourMs, ...outcome } of outcomes) ledger.add(hourMs, outcome);
  return null;
}

/** GET /events/reconciliation (docs/domain.md 7.2, docs/internals/architecture.md I5). */
export async function readReconciliation(
  dependencies: ReconciliationDependencies,
  occasion: Occasion,
  request: ReconciliationRequest,
): Promise<Reconciliation | Refusal> {
  const hours = hoursFrom(request, dependencies.clock.now());
  if (isRefusal(hours)) return hours;
  const { environment } = occasion;
  const { database } = dependencies;
  const since = await readErasureClock(database);
  // First of all: what is finished by these stays so.
  const finished = await readCheckpoints(database);
  const query = { environment, hours, bounds: boundsOf(finished) };
  // Then what was accepted: it says up to where batches are counted, and the rest is read from the
  // stores below that, and from the log above it.
  const accepted = await dependencies.finishedEvents.accepted(query);
  const { bounds } = accepted;
  const checkpoints = finished.raisedTo(bounds);
  const ledger = new HourLedger(hours);
  for (const hour of accepted.hours) ledger.add(hour.hourMs, { accepted: hour.accepted });
  const refusal =
    (await addFinished(dependencies, ledger, { environment, hours, bounds })) ??
    (await addPending(dependencies, ledger, { environment, checkpoints })) ??
    (await addErased(database, ledger, { environment, hours, since }));
  return refusal ?? ledger.result();
}
