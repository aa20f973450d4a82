import {
  CUSTOMERS,
  findCustomer,
  findCustomerByExternalId,
  type CustomerRow,
} from './customers-store.js';
import { hasMetadata, isEqual, isOneOf } from '../records/conditions.js';
import { searchTable, type Page } from '../records/search-table.js';
import { type ReadDependencies, readUnit } from '../records/unit.js';
import type { Caller } from '../records/caller.js';
import { isRefusal, notFound, type Refusal } from '../records/refusal.js';
import {
  readSearch,
  type SearchBodyRequest,
  type SearchCommand,
} from '../records/search-request.js';

/** GET /customers/{id}, whatever the status, and GET /customers/external/{external_id}. */
export async function readCustomer(
  { database }: ReadDependencies,
  caller: Caller,
  reference: { readonly id: string } | { readonly externalId: string },
): Promise<CustomerRow | Refusal> {
  const customer = await readUnit({ database }, caller.environment, ({ tx: transaction }) =>
    'id' in reference
      ? findCustomer(transaction, reference.id)
      : findCustomerByExternalId(transaction, reference.externalId),
  );
  return customer ?? notFound('customer', 'id' in reference ? reference.id : reference.externalId);
}

export type CustomerSearchRequest = SearchBodyRequest & {
  readonly customer_ids?: readonly string[] | undefined;
  readonly external_ids?: readonly string[] | undefined;
  readonly external_id?: string | undefined;
  readonly email?: string | undefined;
  readonly metadata?: Readonly<Record<string, string | number | boolean>> | undefined;
};

/** POST /customers/search. */
export async function searchCustomers(
  { database }: ReadDependencies,
  caller: Caller,
  request: CustomerSearchRequest,
): Promise<(Page<CustomerRow> & { readonly command: SearchCommand }) | Refusal> {
  const command = readSearch(request, { members: CUSTOMERS.members, expandable: [] });
  if (isRefusal(command)) return command;
  const extra = [
    ...isOneOf('id', request.customer_ids),
    ...isOneOf('external_id', request.external_ids),
    ...isEqual('external_id', request.external_id),
    ...isEqual('email', request.email),
    ...hasMetadata(request.metadata),
  ];
  const page = await readUnit({ database }, caller.environment, ({ tx: transaction }) =>
    searchTable(transaction, CUSTOMERS, { command, extra }),
  );
  return { ...page, command };
}
