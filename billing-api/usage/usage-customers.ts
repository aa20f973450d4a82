import { customerKeysOf } from '../../contract/usage-event.js';
import type { UsageOwner } from '../domain/usage/usage-owner.js';
import { findUnknownCustomerKeys, type UsageCustomer } from '../customers/customers-store.js';
import type { KnownCustomers } from '../customers/known-customers.js';
import type { ReadDataUntil } from './watermark/data-until.js';
import { mustRead, type ReadDependencies } from '../records/unit.js';
import type { NamedCustomers, UsageCustomers } from './store/cell-query.js';
import type { UsageReader } from './store/usage-reader.js';
import type { Occasion } from '../records/occasion.js';
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
  readonly knownCustomers: KnownCustomers;
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

/** The usage that an invoice counts. */
export function usageOfOwners(owners: readonly UsageOwner[]): NamedCustomers {
  const keyed = owners.map(({ customerId: id, externalId, spans }) => ({
    keys: customerKeysOf({ id, externalId }),
    spans,
  }));
  const limited = keyed.flatMap(({ keys, spans }) =>
    spans === undefined ? [] : [{ keys, spans }],
  );
  const keys = keyed.flatMap((owner) => owner.keys);
  return { kind: 'only', keys, ...(limited.length === 0 ? {} : { limited }) };
}

async function unknownOf(
  dependencies: UsageReadDependencies,
  { environment }: Occasion,
  keys: readonly string[],
): Promise<readonly string[] | Refusal> {
  const unknown = await dependencies.knownCustomers.unknownOf(environment, keys, (asked) =>
    mustRead(dependencies, { environment }, ({ tx }) => findUnknownCustomerKeys(tx, asked)),
  );
  if (unknown.length <= UNKNOWN_CUSTOMERS_MAX) return unknown;
  return new Refusal(
    'invalid_operation',
    'there is usage of too many unknown customers; name one customer',
  );
}

type Everybodys<Name extends string> = {
  /** Null when there are more cells than an answer could hold. */
  readonly answers: UsageAnswers<Name> | null;
  /** The keys of all whose usage it is, and perhaps of more; null for too many. */
  readonly keys: readonly string[] | null;
};

/** Usage of all but these keys, and whose it is: in one statement where its rows can tell. */
async function readAllBut<Name extends string>(
  { usage }: UsageReadDependencies,
  { environment }: Occasion,
  of: { readonly queries: readonly UsageQuery<Name>[]; readonly excluded: readonly string[] },
): Promise<Everybodys<Name>> {
  const { queries, excluded } = of;
  const customers = { kind: 'all-but', keys: excluded } as const;
  const cells = cellQueriesOf({ customers, queries });
  const told = await usage.readEverybody(environment, cells);
  if (told !== null) return { answers: answersOf(queries, told.found), keys: told.keys };
  const answers = await readUsage(usage, { environment, customers }, queries);
  // Afterwards: usage that was read has its customer in the list then.
  return { answers, keys: await usage.listCustomerKeys(environment, cells) };
}

/** More than once only while customers that do not exist send their first usage. */
const READINGS_MAX = 3;

/**
 * The usage of all customers that exist; usage of unknown customers waits until they exist. It is
 * read without those that are known to be unknown, until a reading holds no other one: a customer
 * whose first usage comes between two readings must not be counted by the second.
 * @returns null when there are more cells than an answer could hold.
 */
export async function readUsageOfEverybody<Name extends string>(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  queries: readonly UsageQuery<Name>[],
): Promise<UsageAnswers<Name> | null | Refusal> {
  const excluded = new Set<string>();
  let existing: readonly string[] = [];
  for (let reading = 1; reading <= READINGS_MAX; reading += 1) {
    const of = { queries, excluded: [...excluded] };
    const { answers, keys } = await readAllBut(dependencies, occasion, of);
    if (keys === null) {
      return new Refusal(
        'invalid_operation',
        'there is usage of more than 100000 customers; name one of them',
      );
    }
    const unknown = await unknownOf(dependencies, occasion, keys);
    if (isRefusal(unknown)) return unknown;
    const isUnknown = new Set([...unknown, ...excluded]);
    if (isUnknown.size === excluded.size) return answers;
    for (const key of unknown) excluded.add(key);
    existing = keys.filter((key) => !isUnknown.has(key));
  }
  // Unknown customers keep coming. Naming those that exist costs a longer statement, once.
  const customers = { kind: 'only', keys: existing } as const;
  return readUsage(dependencies.usage, { environment: occasion.environment, customers }, queries);
}
