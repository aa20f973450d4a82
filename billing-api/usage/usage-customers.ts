import { customerKeysOf } from '../../contract/usage-event.js';
import type { Clock } from '../../runtime/clock.js';
import { findUnknownCustomerKeys, type UsageCustomer } from '../customers/customers-store.js';
import type { ReadDataUntil } from './watermark/data-until.js';
import { type ReadDependencies, readUnit } from '../records/unit.js';
import type { UsageCustomers } from './store/cell-query.js';
import type { UsageReader } from './store/usage-reader.js';
import type { Caller } from '../records/caller.js';
import { cellQueriesOf, type UsageQuery } from './read-usage.js';
import { Refusal } from '../records/refusal.js';

/** Every event of the range is compared with each of these keys. */
const UNKNOWN_CUSTOMERS_MAX = 10_000;

export type UsageReadDependencies = ReadDependencies & {
  readonly usage: UsageReader;
  readonly dataUntil: ReadDataUntil;
  readonly clock: Clock;
};

/** The usage of these customers only. */
export function usageOfCustomers(
  customers: readonly Pick<UsageCustomer, 'id' | 'external_id'>[],
): UsageCustomers {
  const keys = customers.flatMap(({ id, external_id: externalId }) =>
    customerKeysOf({ id, externalId }),
  );
  return { kind: 'only', keys };
}

/** The usage of all customers that exist; usage of unknown customers waits until they exist. */
export async function usageOfEverybody(
  { database, usage }: UsageReadDependencies,
  { environment }: Caller,
  queries: readonly UsageQuery<string>[],
): Promise<UsageCustomers | Refusal> {
  const keys = await usage.listCustomerKeys(environment, cellQueriesOf(queries));
  if (keys === null) {
    return new Refusal(
      'invalid_operation',
      'there is usage of more than 100000 customers; name one of them',
    );
  }
  const unknown = await readUnit({ database }, environment, ({ tx: transaction }) =>
    findUnknownCustomerKeys(transaction, keys),
  );
  if (unknown.length > UNKNOWN_CUSTOMERS_MAX) {
    return new Refusal(
      'invalid_operation',
      'there is usage of too many unknown customers; name one customer',
    );
  }
  return { kind: 'all-but', keys: unknown };
}

/** The usage of one customer, or of everybody when there is none. */
export async function usageOf(
  dependencies: UsageReadDependencies,
  caller: Caller,
  {
    query,
    customer,
  }: { readonly query: UsageQuery<string>; readonly customer: UsageCustomer | null },
): Promise<UsageCustomers | Refusal> {
  if (customer !== null) return usageOfCustomers([customer]);
  return usageOfEverybody(dependencies, caller, [query]);
}
