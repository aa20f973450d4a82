import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../../contract/environment.js';
import type { Database } from '../../../sql/pool.js';
import { VerbRefused } from '../../stack/verb-refused.js';

/** How an operator names a customer: by our id, or by the sender's, which nobody need know yet. */
export type CustomerName =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'external_id'; readonly externalId: string };

/** All references by which events name a customer. */
export type ErasedCustomer = {
  /** As the operator named it. */
  readonly name: string;
  readonly externalIds: readonly string[];
  readonly ids: readonly string[];
};

const customerRow = z.object({ id: z.string(), external_id: z.string(), status: z.string() });

/** `e:<external id>` and `i:<id>`, as the events carry them (customerKeyOfEvent). */
export function keysOf({ externalIds, ids }: Omit<ErasedCustomer, 'name'>): readonly string[] {
  return [...externalIds.map((id) => `e:${id}`), ...ids.map((id) => `i:${id}`)];
}

/** The reverse of `keysOf`. */
export function customerOfKeys(name: string, keys: readonly string[]): ErasedCustomer {
  const of = (prefix: string): readonly string[] =>
    keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
  return { name, externalIds: of('e:'), ids: of('i:') };
}

async function byExternalId(
  { slonik }: Database,
  { tenantId, environmentId }: Environment,
  externalId: string,
): Promise<ErasedCustomer> {
  const rows = await slonik.any(sql.type(customerRow)`
    SELECT id, external_id, status FROM customers
    WHERE tenant_id = ${tenantId} AND environment_id = ${environmentId}
      AND external_id = ${externalId} ORDER BY id`);
  return { name: externalId, externalIds: [externalId], ids: rows.map(({ id }) => id) };
}

/**
 * The references of a customer's events. An external id stands for every customer that has it, also
 * archived ones, since all of them share its events (D-002).
 * @throws VerbRefused for an id of no customer, and for one whose external id another customer has.
 */
export async function findErasedCustomer(
  database: Database,
  environment: Environment,
  named: CustomerName,
): Promise<ErasedCustomer> {
  if (named.kind === 'external_id') return byExternalId(database, environment, named.externalId);
  const { tenantId, environmentId } = environment;
  const customer = await database.slonik.maybeOne(sql.type(customerRow)`
    SELECT id, external_id, status FROM customers
    WHERE tenant_id = ${tenantId} AND environment_id = ${environmentId} AND id = ${named.id}`);
  if (customer === null) {
    throw new VerbRefused(
      `${named.id} is no customer of ${environmentId}; name events without a customer by --external-id`,
    );
  }
  const { external_id: externalId } = customer;
  const sharing = (await byExternalId(database, environment, externalId)).ids;
  const others = sharing.filter((id) => id !== customer.id);
  if (others.length > 0) {
    throw new VerbRefused(
      `${others.join(', ')} has the external id of ${customer.id}, too, and shares its events: name the external id with --external-id to erase the events of all of them`,
    );
  }
  return { name: customer.id, externalIds: [externalId], ids: [customer.id] };
}

/** The references of several customers, whose events are erased together, each named once. */
export async function findErasedCustomers(
  database: Database,
  environment: Environment,
  named: readonly CustomerName[],
): Promise<ErasedCustomer> {
  const found: ErasedCustomer[] = [];
  for (const name of named) found.push(await findErasedCustomer(database, environment, name));
  const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];
  return {
    name: unique(found.map(({ name }) => name)).join(', '),
    externalIds: unique(found.flatMap(({ externalIds }) => externalIds)),
    ids: unique(found.flatMap(({ ids }) => ids)),
  };
}
