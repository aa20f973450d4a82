import {
  PAYMENTS,
  type PaymentMethod,
  type PaymentRow,
  type PaymentStatus,
} from '../../declarations/money/payment.resource.js';
import { isEqual } from '../../records/conditions.js';
import { readRecord } from '../../records/find-record.js';
import { listRequestFrom, type ListQuery } from '../../records/list-request.js';
import type { Occasion } from '../../records/occasion.js';
import type { Currency } from '../../records/record-dto.js';
import type { Refusal } from '../../records/refusal.js';
import { searchRecords, type Page } from '../../records/search-records.js';
import { readOperation } from '../../records/operation.js';
import { readUnit, type ReadDependencies } from '../../records/unit.js';

/** The query of GET /payments. */
export interface ListPaymentsQuery extends ListQuery {
  destination_type?: 'INVOICE' | 'CUSTOMER';
  destination_id?: string;
  payment_method_type?: PaymentMethod;
  payment_status?: PaymentStatus;
  currency?: Currency;
}

/** GET /payments. */
export function listPayments(
  dependencies: ReadDependencies,
  occasion: Occasion,
  query: ListPaymentsQuery,
): Promise<Page<PaymentRow> | Refusal> {
  const conditions = [
    ...isEqual('destination_type', query.destination_type),
    ...isEqual('destination_id', query.destination_id),
    ...isEqual('payment_method_type', query.payment_method_type),
    ...isEqual('payment_status', query.payment_status),
    ...isEqual('currency', query.currency),
  ];
  const request = listRequestFrom(query);
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, PAYMENTS, { request, conditions }),
  );
}

/** GET /payments/{id}, whatever its status. */
export const readPayment = readOperation((unit, id: string) => readRecord(unit, PAYMENTS, id));
