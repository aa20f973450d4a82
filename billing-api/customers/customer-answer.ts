import { readRecord } from '../records/find-record.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
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

/** The answer of a customer that was read; hands a refusal on. */
export function answerOf(found: AnsweredCustomerRow | Refusal): AnsweredCustomer | Refusal {
  return isRefusal(found) ? found : { version: found.version, dto: customerToDto(found) };
}

/** Reads a customer again that was written; hands a refusal on. */
export async function answerWritten(
  unit: ReadUnit,
  written: CustomerRow | Refusal,
): Promise<AnsweredCustomer | Refusal> {
  if (isRefusal(written)) return written;
  return answerOf(await readRecord(unit, ANSWERED_CUSTOMERS, written.id));
}
