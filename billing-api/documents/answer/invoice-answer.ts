import type { Decimal } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { mapInTurns } from '../../../runtime/loop-turns.js';
import { formatMoney, Money } from '../../domain/money/money.js';
import { instantToDto } from '../../records/record-dto.js';
import type { InvoiceDocument } from '../invoice-document.js';
import type { WindowsPage } from './explained-windows.js';
import { couponApplicationToDto, appliedTaxToDto } from './adjustment-answer.js';
import type { InvoiceDto } from './invoice-dto.js';
import { identityToDto, invoiceLineToDto } from './invoice-line-answer.js';

/**
 * The answer about an invoice, computed or stored. When a page of windows is given, every line
 * explains its amount.
 */
export function invoiceToDto(document: InvoiceDocument, page: WindowsPage | null): InvoiceDto {
  const { header, lines, coupons, taxes } = document;
  const money = (amount: Decimal): string => formatMoney(new Money(amount, header.currency));
  return {
    ...identityToDto(header),
    tenant_id: header.tenant_id,
    environment_id: header.environment_id,
    invoice_number: header.invoice_number,
    invoice_type: header.invoice_type,
    invoice_status: header.invoice_status,
    payment_status: header.payment_status,
    billing_reason: header.billing_reason,
    billing_period: header.billing_period,
    billing_sequence: header.billing_sequence,
    customer_id: header.customer_id,
    customer: header.customer,
    subscription_id: header.subscription_id,
    subscription: header.subscription,
    subscription_customer_id: header.subscription_customer_id,
    currency: header.currency,
    description: header.description,
    issue_date: instantToDto(header.issue_date),
    due_date: instantToDto(header.due_date),
    finalized_at: instantToDto(header.finalized_at),
    paid_at: instantToDto(header.paid_at),
    voided_at: instantToDto(header.voided_at),
    period_start: instantToDto(header.period_start),
    period_end: instantToDto(header.period_end),
    last_computed_at: formatInstant(header.last_computed_at),
    data_until: instantToDto(header.data_until),
    subtotal: money(header.subtotal),
    total: money(header.total),
    total_discount: money(header.total_discount),
    total_tax: money(header.total_tax),
    total_prepaid_credits_applied: money(header.total_prepaid_credits_applied),
    adjustment_amount: money(header.adjustment_amount),
    amount_due: money(header.amount_due),
    amount_paid: money(header.amount_paid),
    amount_remaining: money(header.amount_remaining),
    overpaid_amount: money(header.overpaid_amount),
    refunded_amount: money(header.refunded_amount),
    is_manually_edited: header.is_manually_edited,
    invoice_pdf_url: header.invoice_pdf_url,
    idempotency_key: header.idempotency_key,
    recalculated_invoice_id: header.recalculated_invoice_id,
    version: header.version,
    line_items: lines.map((line) => invoiceLineToDto(line, header, page)),
    coupon_applications: coupons.map((coupon) => couponApplicationToDto(coupon, header)),
    taxes: taxes.map((tax) => appliedTaxToDto(tax, header)),
  };
}

/** As `invoiceToDto`, in slices: each of many invoices may have a thousand lines. */
export async function invoicesToDtosInTurns(
  documents: readonly InvoiceDocument[],
  page: WindowsPage | null,
): Promise<InvoiceDto[]> {
  const pairs = documents.flatMap(({ header, lines }) => lines.map((line) => ({ header, line })));
  const lines = await mapInTurns(pairs, ({ header, line }) => invoiceLineToDto(line, header, page));
  let from = 0;
  return mapInTurns(documents, (document) => {
    const own = lines.slice(from, from + document.lines.length);
    from += own.length;
    return { ...invoiceToDto({ ...document, lines: [] }, page), line_items: own };
  });
}

/** As `invoiceToDto`, in slices. */
export async function invoiceToDtoInTurns(
  document: InvoiceDocument,
  page: WindowsPage | null,
): Promise<InvoiceDto> {
  const [invoice] = await invoicesToDtosInTurns([document], page);
  return assertPresent(invoice, 'the answered invoice');
}
