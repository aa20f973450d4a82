import { createRecord } from '../records/create-record.js';
import type { MemberReader } from '../records/member-rules.js';
import type { NewRecord } from '../records/resource.js';
import type { Unit } from '../records/unit.js';
import {
  readTaxOverrides,
  replaceTaxOverrides,
  storeTaxOverrides,
  type TaxOverride,
} from '../taxes/tax-overrides.js';
import type { TaxRateOverrideBody } from '../declarations/taxes/tax-override-body.js';
import { CUSTOMERS, type CustomerRow } from '../declarations/customers/customer.resource.js';

/** The tax rates that a request gives a customer; null when it says nothing of them. */
export type CustomerTaxes = readonly TaxOverride[] | null;

/** Reads `tax_rate_overrides`, where null means none. */
export function readCustomerTaxes(
  reader: MemberReader,
  overrides: readonly TaxRateOverrideBody[] | null | undefined,
): CustomerTaxes {
  return overrides === undefined ? null : readTaxOverrides(reader, overrides ?? []);
}

/** Stores a customer with its tax rates. */
export async function createTaxedCustomer(
  unit: Unit,
  values: NewRecord<(typeof CUSTOMERS)['columns']>,
  taxes: CustomerTaxes,
): Promise<CustomerRow> {
  const customer = await createRecord(unit, CUSTOMERS, values);
  const entity = { type: 'customer', id: customer.id } as const;
  await storeTaxOverrides(unit, entity, taxes ?? []);
  return customer;
}

/** Changes the tax rates of a customer, whose record is locked. */
export async function changeCustomerTaxes(
  unit: Unit,
  id: string,
  taxes: CustomerTaxes,
): Promise<void> {
  if (taxes !== null) await replaceTaxOverrides(unit, { type: 'customer', id }, taxes);
}
