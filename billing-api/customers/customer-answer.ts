import { readRecord } from '../records/find-record.js';
import type { ReadUnit } from '../records/unit.js';
import {
  ANSWERED_CUSTOMERS,
  customerToDto,
  type AnsweredCustomerRow,
  type CustomerDto,
  type CustomerRow,
} from '../declarations/customers/customer.resource.js';

/** A customer as it is answered, and its version. */
export type AnsweredCustomer = { readonly version: number; readonly dto: CustomerDto };

/** The answer of a customer that was read. */
export function answeredCustomer(found: AnsweredCustomerRow): AnsweredCustomer {
  return { version: found.version, dto: customerToDto(found) };
}

/** Reads a customer again that was written. */
export async function answerWritten(
  unit: ReadUnit,
  { id }: CustomerRow,
): Promise<AnsweredCustomer> {
  return answeredCustomer(await readRecord(unit, ANSWERED_CUSTOMERS, id));
}
