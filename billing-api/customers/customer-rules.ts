import { givenOf, MemberReader } from '../records/member-rules.js';
import { readIntegrations } from './change-integrations.js';
import { countryNamed } from './countries.js';
import { readCustomerTaxes } from './customer-taxes.js';
import type {
  ChangeCustomerBody,
  CreateCustomerBody,
} from '../declarations/customers/customer.resource.js';

const CONTACT_MEMBERS = [
  'contact',
  'address_line1',
  'address_line2',
  'address_city',
  'address_state',
  'address_postal_code',
] as const;

/** Members that a request to make or to change a customer has in common, where they are given. */
type Details = Pick<
  ChangeCustomerBody,
  (typeof CONTACT_MEMBERS)[number] | 'email' | 'address_country' | 'timezone'
>;

function readCountry(reader: MemberReader, text: string): string | null {
  const country = countryNamed(text);
  if (country === null) {
    reader.note(
      'address_country',
      'must be the code of a country in two letters (ISO 3166), such as DE',
    );
  }
  return country;
}

/** Null clears a member and undefined leaves it; only a text is read. */
function readGiven(
  text: string | null | undefined,
  read: (text: string) => string | null,
): string | null | undefined {
  return typeof text === 'string' ? read(text) : text;
}

/** Those of the details that are given; null stays null, and clears a member. */
function readDetails(reader: MemberReader, body: Details) {
  const { email, address_country: country, timezone } = body;
  return givenOf({
    ...Object.fromEntries(CONTACT_MEMBERS.map((name) => [name, body[name]])),
    email: readGiven(email, (text) => reader.email('email', text)),
    address_country: readGiven(country, (text) => readCountry(reader, text)),
    timezone: readGiven(timezone, (text) => reader.timezone('timezone', text)),
  });
}

const NO_DETAILS = {
  email: null,
  contact: null,
  address_line1: null,
  address_line2: null,
  address_city: null,
  address_state: null,
  address_postal_code: null,
  address_country: null,
  timezone: null,
};

/** The customer of a request with its integrations and taxes, or what is wrong with it. */
export function newCustomer(body: CreateCustomerBody) {
  const reader = new MemberReader();
  // Kept as it is, blanks included, since events name it exactly so.
  const externalId = body.external_id;
  reader.name('external_id', externalId);
  if (body.name !== undefined && body.name !== '') reader.line('name', body.name);
  const customer = {
    external_id: externalId,
    name: body.name === undefined || body.name === '' ? externalId : body.name,
    ...NO_DETAILS,
    ...readDetails(reader, body),
    metadata: reader.metadata(body.metadata),
  };
  const integrations = readIntegrations(reader, body.integration_entity_mapping ?? []);
  const taxes = readCustomerTaxes(reader, body.tax_rate_overrides);
  return reader.refusal() ?? { customer, integrations, taxes };
}

/** What a change writes, null for integrations and taxes that stay; or what is wrong with it. */
export function changedCustomer(body: ChangeCustomerBody) {
  const reader = new MemberReader();
  const members = {
    ...readDetails(reader, body),
    ...givenOf({
      name: reader.changedName('name', body.name),
      metadata: reader.changedMetadata(body.metadata),
    }),
  };
  const { integration_entity_mapping: mappings } = body;
  const integrations = mappings === undefined ? null : readIntegrations(reader, mappings ?? []);
  const taxes = readCustomerTaxes(reader, body.tax_rate_overrides);
  return reader.refusal() ?? { members, integrations, taxes };
}
