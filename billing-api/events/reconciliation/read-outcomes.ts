import type { Environment } from '../../../contract/environment.js';
import type { InstantMs } from '../../../contract/instant.js';
import { findUnknownCustomerKeys } from '../../customers/customers-store.js';
import { Refusal } from '../../records/refusal.js';
import type { ReadDependencies } from '../../records/unit.js';
import { findCorrectionsInForce } from '../../usage/corrections-in-force.js';
import type { ExpiredEvents } from '../../usage/expired/expired-events.js';
import { findCountingMeters } from '../event-meters.js';
import type { FinishedEvents, HourOutcomes, HoursQuery } from './finished-events.js';

/** Their names travel to PostgreSQL and back. */
const CUSTOMERS_MAX = 200_000;

export type OutcomeDependencies = ReadDependencies & {
  readonly finishedEvents: FinishedEvents;
  readonly expiredEvents: ExpiredEvents;
};

/** What became of events of one hour, as far as one reading tells. */
type StoredOutcomes = Pick<HourOutcomes, 'hourMs'> &
  Partial<HourOutcomes & { readonly withdrawn: number }>;

/** Stored events that arrived from `beginMs` on, by what becomes of them now. */
export async function readOutcomes(
  { database, finishedEvents }: OutcomeDependencies,
  query: HoursQuery & { readonly environment: Environment; readonly beginMs: InstantMs | null },
): Promise<readonly StoredOutcomes[] | Refusal> {
  const { environment, beginMs } = query;
  const corrections = await database.readSnapshot(environment, (tx) =>
    findCorrectionsInForce({ tx }),
  );
  const keys = await finishedEvents.customerKeys(query, { corrections, max: CUSTOMERS_MAX });
  if (keys === null) {
    const problem = `the range has events of more than ${CUSTOMERS_MAX} customers; take a shorter one`;
    return new Refusal('invalid_operation', problem);
  }
  const meters = await findCountingMeters(database, environment, null);
  const unknownKeys = await database.readSnapshot(environment, (transaction) =>
    findUnknownCustomerKeys(transaction, keys),
  );
  const by = { meters, unknownKeys, beginMs, corrections };
  const [outcomes, withdrawn] = await Promise.all([
    finishedEvents.outcomesByHour(query, by),
    finishedEvents.withdrawnByHour(query, by),
  ]);
  return [...outcomes, ...withdrawn];
}
