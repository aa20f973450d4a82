import type {
  BillingReason,
  InvoiceRow,
  INVOICES,
} from '../../declarations/invoices/invoice.resource.js';
import {
  isAbove,
  isDue,
  isEqual,
  isNotBefore,
  isOneOfAsked,
  type Conditions,
} from '../../records/conditions.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Currency, DateTime, DecimalText, SearchBody } from '../../records/record-dto.js';
import type { Refusal } from '../../records/refusal.js';
import type { ColumnName } from '../../records/resource.js';

/**
 * @example {"invoice_status": ["FINALIZED"], "amount_remaining_gt": "0", "limit": 20}
 */
export interface SearchInvoicesBody extends SearchBody {
  /** @maxItems 1000 */
  invoice_ids?: string[];
  customer_id?: string;
  external_customer_id?: string;
  subscription_id?: string;
  /** @maxItems 1000 */
  subscription_customer_id?: string[];
  invoice_type?: InvoiceRow['invoice_type'];
  /** @maxItems 4 */
  invoice_status?: InvoiceRow['invoice_status'][];
  /** @maxItems 9 */
  payment_status?: InvoiceRow['payment_status'][];
  billing_reason?: BillingReason;
  currency?: Currency;
  amount_due_gt?: DecimalText;
  amount_remaining_gt?: DecimalText;
  period_start_gte?: DateTime;
  period_start_lte?: DateTime;
  period_end_gte?: DateTime;
  period_end_lte?: DateTime;
  /**
   * Answers the headers alone: without lines, coupons and taxes.
   * @default false
   */
  skip_line_items?: boolean;
}

export type InvoiceConditions = Conditions<ColumnName<(typeof INVOICES)['columns']>>;

/** The conditions of an invoice search beside the common ones, but for the external id. */
export function invoiceConditions(body: SearchInvoicesBody): InvoiceConditions | Refusal {
  const reader = new MemberReader();
  const currency =
    body.currency === undefined ? undefined : reader.currency('currency', body.currency);
  const due = reader.decimal('amount_due_gt', body.amount_due_gt);
  const remaining = reader.decimal('amount_remaining_gt', body.amount_remaining_gt);
  const startFrom = reader.instant('period_start_gte', body.period_start_gte);
  const startTo = reader.instant('period_start_lte', body.period_start_lte);
  const endFrom = reader.instant('period_end_gte', body.period_end_gte);
  const endTo = reader.instant('period_end_lte', body.period_end_lte);
  return (
    reader.refusal() ?? [
      ...isOneOfAsked('id', body.invoice_ids),
      ...isEqual('customer_id', body.customer_id),
      ...isEqual('subscription_id', body.subscription_id),
      ...isOneOfAsked('subscription_customer_id', body.subscription_customer_id),
      ...isEqual('invoice_type', body.invoice_type),
      ...isOneOfAsked('invoice_status', body.invoice_status),
      ...isOneOfAsked('payment_status', body.payment_status),
      ...isEqual('billing_reason', body.billing_reason),
      ...isEqual('currency', currency),
      ...isAbove('amount_due', due),
      ...isAbove('amount_remaining', remaining),
      ...isNotBefore('period_start', startFrom),
      ...isDue(['period_start'], startTo),
      ...isNotBefore('period_end', endFrom),
      ...isDue(['period_end'], endTo),
    ]
  );
}
