import type { Caller } from '../records/caller.js';
import { hasMetadata, isEqual, isOneOf } from '../records/conditions.js';
import { createRecord } from '../records/create-record.js';
import { readRecord } from '../records/find-record.js';
import { MemberReader } from '../records/member-rules.js';
import { isRefusal, notFound, type Refusal } from '../records/refusal.js';
import { searchRecords, type Page } from '../records/search-records.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type WriteDependencies,
} from '../records/unit.js';
import { countryNamed } from './countries.js';
import { findCustomerByExternalId } from './customers-store.js';
import {
  CUSTOMERS,
  type CreateCustomerBody,
  type CustomerRow,
  type SearchCustomersBody,
} from './customer.resource.js';

/** One `@`, something before it, and a host of dot-separated names; addresses are not resolved. */
const EMAIL = /^[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)*$/;

/** The members that are stored as they are given. */
function contactOf(body: CreateCustomerBody) {
  return {
    email: body.email ?? null,
    contact: body.contact ?? null,
    address_line1: body.address_line1 ?? null,
    address_line2: body.address_line2 ?? null,
    address_city: body.address_city ?? null,
    address_state: body.address_state ?? null,
    address_postal_code: body.address_postal_code ?? null,
  };
}

/** The customer that a request describes, or what is wrong with it. */
function newCustomer(body: CreateCustomerBody) {
  const reader = new MemberReader();
  // Kept as it is, blanks included, since events name it exactly so.
  const externalId = body.external_id;
  reader.name('external_id', externalId);
  reader.rejectUnsupported(body, ['tax_rate_overrides', 'integration_entity_mapping']);
  if (body.email !== undefined && !EMAIL.test(body.email)) {
    reader.note('email', 'must be an e-mail address');
  }
  const country = body.address_country === undefined ? null : countryNamed(body.address_country);
  if (body.address_country !== undefined && country === null) {
    reader.note('address_country', 'must be an ISO 3166 alpha-2 code, such as DE');
  }
  const customer = {
    external_id: externalId,
    name: body.name === undefined || body.name === '' ? externalId : body.name,
    ...contactOf(body),
    address_country: country,
    timezone: reader.timezone('timezone', body.timezone),
    metadata: reader.metadata(body.metadata),
  };
  return reader.refusal() ?? customer;
}

/** POST /customers. */
export async function createCustomer(
  dependencies: WriteDependencies,
  caller: Caller,
  body: CreateCustomerBody,
): Promise<CustomerRow | Refusal> {
  const customer = newCustomer(body);
  if (isRefusal(customer)) return customer;
  return writeUnit(dependencies, caller, (unit) => createRecord(unit, CUSTOMERS, customer));
}

/** GET /customers/{id}, whatever the status. */
export function readCustomer(
  dependencies: ReadDependencies,
  caller: Caller,
  id: string,
): Promise<CustomerRow | Refusal> {
  return readUnit(dependencies, caller.environment, (unit) => readRecord(unit, CUSTOMERS, id));
}

/** GET /customers/external/{external_id}: the published customer with this external id. */
export function readCustomerByExternalId(
  dependencies: ReadDependencies,
  caller: Caller,
  externalId: string,
): Promise<CustomerRow | Refusal> {
  return readUnit(dependencies, caller.environment, async ({ tx }) => {
    const customer = await findCustomerByExternalId(tx, externalId);
    return customer ?? notFound('customer', externalId);
  });
}

/** POST /customers/search. */
export function searchCustomers(
  dependencies: ReadDependencies,
  caller: Caller,
  body: SearchCustomersBody,
): Promise<Page<CustomerRow> | Refusal> {
  const conditions = [
    ...isOneOf('id', body.customer_ids),
    ...isOneOf('external_id', body.external_ids),
    ...isEqual('external_id', body.external_id),
    ...isEqual('email', body.email),
    ...hasMetadata(body.metadata),
  ];
  return readUnit(dependencies, caller.environment, (unit) =>
    searchRecords(unit, CUSTOMERS, { request: body, conditions }),
  );
}
