import type { Environment } from '../../../contract/environment.js';
import type { InstantMs } from '../../../contract/instant.js';
import { findUnknownCustomerKeys } from '../../customers/customers-store.js';
import { Refusal } from '../../records/refusal.js';
import type { ReadDependencies } from '../../records/unit.js';
import type { ExpiredEvents } from '../../usage/expired/expired-events.js';
import { findCountingMeters } from '../event-meters.js';
import type { FinishedEvents, HourOutcomes, HoursQuery } from './finished-events.js';

/** Their names travel to PostgreSQL and back. */
const CUSTOMERS_MAX = 200_000;

export type OutcomeDependencies = ReadDependencies & {
  readonly finishedEvents: FinishedEvents;
  readonly expiredEvents: ExpiredEvents;
};

/** Stored events that arrived from `beginMs` on, by what becomes of them now. */
export async function readOutcomes(
  { database, finishedEvents }: OutcomeDependencies,
  query: HoursQuery & { readonly environment: Environment; readonly beginMs: InstantMs | null },
): Promise<readonly HourOutcomes[] | Refusal> {
  const { environment, beginMs } = query;
  const keys = await finishedEvents.customerKeys(query, CUSTOMERS_MAX);
  if (keys === null) {
    const problem = `the range has events of more than ${CUSTOMERS_MAX} customers; take a shorter one`;
    return new Refusal('invalid_operation', problem);
  }
  const meters = await findCountingMeters(database, environment, null);
  const unknownKeys = await database.readSnapshot(environment, (transaction) =>
    findUnknownCustomerKeys(transaction, keys),
  );
  return finishedEvents.outcomesByHour(query, { meters, unknownKeys, beginMs });
}
