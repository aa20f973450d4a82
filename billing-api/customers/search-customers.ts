import type { Occasion } from '../records/occasion.js';
import { hasMetadata, isEqual, isOneOfAsked } from '../records/conditions.js';
import type { Refusal } from '../records/refusal.js';
import { pageToDto, searchRecords } from '../records/search-records.js';
import { readUnit, type ReadDependencies } from '../records/unit.js';
import {
  ANSWERED_CUSTOMERS,
  customerToDto,
  type CustomerListDto,
  type SearchCustomersBody,
} from '../declarations/customers/customer.resource.js';

/** POST /customers/search. */
export function searchCustomers(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchCustomersBody,
): Promise<CustomerListDto | Refusal> {
  const conditions = [
    ...isOneOfAsked('id', body.customer_ids),
    ...isOneOfAsked('external_id', body.external_ids),
    ...isEqual('external_id', body.external_id),
    ...isEqual('email', body.email),
    ...hasMetadata(body.metadata),
  ];
  return readUnit(dependencies, occasion, async (unit) => {
    const page = await searchRecords(unit, ANSWERED_CUSTOMERS, { request: body, conditions });
    return pageToDto(page, customerToDto);
  });
}
