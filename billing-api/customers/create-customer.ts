import { CUSTOMERS, type CustomerRow } from './customers-store.js';
import { insertRows, newRecordColumns, type NewRow } from '../records/records.js';
import { type WriteDependencies, writeUnit } from '../records/unit.js';
import type { Caller } from '../records/caller.js';
import { countryNamed } from './countries.js';
import { MemberReader } from '../records/member-rules.js';
import { alreadyExists, isRefusal, type Refusal } from '../records/refusal.js';

const ADDRESS_MEMBERS = [
  'email',
  'contact',
  'address_line1',
  'address_line2',
  'address_city',
  'address_state',
  'address_postal_code',
  'address_country',
] as const;

export type CustomerRequest = {
  readonly [Member in (typeof ADDRESS_MEMBERS)[number]]?: string | undefined;
} & {
  readonly external_id: string;
  readonly name?: string | undefined;
  readonly timezone?: string | undefined;
  readonly metadata?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly tax_rate_overrides?: readonly unknown[] | undefined;
  readonly integration_entity_mapping?: readonly unknown[] | undefined;
};

/** One `@`, something before it, and a host of dot-separated names; addresses are not resolved. */
const EMAIL = /^[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)*$/;

function customerColumnsFrom(request: CustomerRequest): NewRow | Refusal {
  const reader = new MemberReader();
  // Kept as it is, blanks included, since events name it exactly so.
  const externalId = request.external_id;
  reader.name('external_id', externalId);
  reader.later(request, ['tax_rate_overrides', 'integration_entity_mapping']);
  if (request.email !== undefined && !EMAIL.test(request.email)) {
    reader.note('email', 'is no e-mail address');
  }
  const country =
    request.address_country === undefined ? null : countryNamed(request.address_country);
  if (request.address_country !== undefined && country === null) {
    reader.note('address_country', 'is no ISO 3166 alpha-2 code');
  }
  const columns = {
    ...Object.fromEntries(ADDRESS_MEMBERS.map((member) => [member, request[member] ?? null])),
    external_id: externalId,
    name: request.name === undefined || request.name === '' ? externalId : request.name,
    address_country: country,
    timezone: reader.timezone('timezone', request.timezone),
    metadata: reader.metadata(request.metadata),
  };
  return reader.refusal() ?? columns;
}

/** POST /customers. */
export async function createCustomer(
  { database, clock, createId }: WriteDependencies,
  caller: Caller,
  request: CustomerRequest,
): Promise<CustomerRow | Refusal> {
  const columns = customerColumnsFrom(request);
  if (isRefusal(columns)) return columns;
  const row = { ...newRecordColumns(caller, createId('cust'), clock.now()), ...columns };
  return writeUnit({ database, clock, createId }, caller, async ({ tx: transaction }) => {
    const [customer] = await insertRows(transaction, CUSTOMERS, [row]);
    return customer ?? alreadyExists('customer', 'external_id');
  });
}
