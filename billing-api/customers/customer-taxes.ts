import { createRecord } from '../records/create-record.js';
import type { MemberReader } from '../records/member-rules.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
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

/** Stores a customer with its tax rates. A refusal must end the unit. */
export async function createTaxedCustomer(
  unit: Unit,
  values: NewRecord<(typeof CUSTOMERS)['columns']>,
  taxes: CustomerTaxes,
): Promise<CustomerRow | Refusal> {
  const customer = await createRecord(unit, CUSTOMERS, values);
  if (isRefusal(customer)) return customer;
  const entity = { type: 'customer', id: customer.id } as const;
  const stored = await storeTaxOverrides(unit, entity, taxes ?? []);
  return isRefusal(stored) ? stored : customer;
}

/** Changes the tax rates of a customer, whose record is locked. A refusal must end the unit. */
export async function changeCustomerTaxes(
  unit: Unit,
  id: string,
  taxes: CustomerTaxes,
): Promise<Refusal | null> {
  return taxes === null ? null : replaceTaxOverrides(unit, { type: 'customer', id }, taxes);
}
