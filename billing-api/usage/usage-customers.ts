import { customerKeysOf } from '../../contract/usage-event.js';
import type { Clock } from '../../runtime/clock.js';
import { findUnknownCustomerKeys, type UsageCustomer } from '../customers/customers-store.js';
import type { ReadDataUntil } from './watermark/data-until.js';
import { type ReadDependencies, readUnit } from '../records/unit.js';
import type { UsageCustomers } from './store/cell-query.js';
import type { UsageReader } from './store/usage-reader.js';
import type { Caller } from '../records/caller.js';
import {
  answersOf,
  cellQueriesOf,
  readUsage,
  type UsageAnswers,
  type UsageQuery,
} from './read-usage.js';
import { isRefusal, Refusal } from '../records/refusal.js';

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

async function unknownOf(
  { database }: UsageReadDependencies,
  { environment }: Caller,
  keys: readonly string[],
): Promise<readonly string[] | Refusal> {
  const unknown = await readUnit({ database }, environment, ({ tx }) =>
    findUnknownCustomerKeys(tx, keys),
  );
  if (unknown.length <= UNKNOWN_CUSTOMERS_MAX) return unknown;
  return new Refusal(
    'invalid_operation',
    'there is usage of too many unknown customers; name one customer',
  );
}

/**
 * The usage of all customers that exist; usage of unknown customers waits until they exist. Where
 * the statement itself can tell whose usage it has read, and all of them exist, it is the answer;
 * else it is read again without the others.
 * @returns null when there are more cells than an answer could hold.
 */
export async function readUsageOfEverybody<Name extends string>(
  dependencies: UsageReadDependencies,
  caller: Caller,
  queries: readonly UsageQuery<Name>[],
): Promise<UsageAnswers<Name> | null | Refusal> {
  const { usage } = dependencies;
  const { environment } = caller;
  const cells = cellQueriesOf(queries);
  const everybodys = await usage.readEverybody(environment, cells);
  const keys = everybodys?.keys ?? (await usage.listCustomerKeys(environment, cells));
  if (keys === null) {
    return new Refusal(
      'invalid_operation',
      'there is usage of more than 100000 customers; name one of them',
    );
  }
  const unknown = await unknownOf(dependencies, caller, keys);
  if (isRefusal(unknown)) return unknown;
  if (everybodys !== null && unknown.length === 0) return answersOf(queries, everybodys.found);
  const customers = { kind: 'all-but', keys: unknown } as const;
  return readUsage(usage, { environment, customers }, queries);
}
