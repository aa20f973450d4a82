import type { InstantMs } from '../../../contract/instant.js';
import { localDateText } from '../../domain/calendar/local-time.js';
import { mapInTurns } from '../../../runtime/loop-turns.js';
import type { TenantRow } from '../../declarations/platform/tenant.js';
import { invoiceToDtoInTurns } from '../../documents/answer/invoice-answer.js';
import type { InvoiceDto } from '../../documents/answer/invoice-dto.js';
import type { InvoiceDocument, InvoiceHeader } from '../../documents/invoice-document.js';
import { lineRows, totalRows, type InvoiceRow, type PrintedLine } from './invoice-rows.js';

/** A commitment's windows are summed up on paper; the interface lists them. */
export const NO_WINDOWS = { limit: 1, offset: 0 };

/** What stands on the paper of an invoice; every text as it is printed. */
export type PrintedPage = {
  readonly title: string;
  /** By which the paper is found: `Invoice INV-202610-00001`. */
  readonly name: string;
  /** Said in large letters where the paper is no demand for payment. */
  readonly notice: string | null;
  readonly seller: readonly string[];
  readonly customer: readonly string[];
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly amountTitle: string;
  readonly rows: readonly InvoiceRow[];
  readonly notes: readonly string[];
  /** When the file says that it was made: an instant of the invoice, so that it never changes. */
  readonly madeAt: InstantMs;
};

const isText = (text: string | null | undefined): text is string =>
  text !== null && text !== undefined && text !== '';

type Address = {
  readonly [
    Part in 'line1' | 'line2' | 'city' | 'state' | 'postal_code' | 'country' as `address_${Part}`
  ]?: string | null | undefined;
};

function addressLines(address: Address | null | undefined): readonly string[] {
  if (address === null || address === undefined) return [];
  const town = [address.address_postal_code, address.address_city, address.address_state];
  const lines = [address.address_line1, address.address_line2, town.filter(isText).join(' ')];
  return [...lines, address.address_country].filter(isText);
}

const TITLES: Readonly<Record<InvoiceHeader['invoice_type'], string>> = {
  SUBSCRIPTION: 'Invoice',
  ONE_OFF: 'Invoice',
  CREDIT: 'Credit invoice',
};

const NOTICES: Readonly<Record<InvoiceHeader['invoice_status'], string | null>> = {
  DRAFT: 'DRAFT: not an invoice yet',
  FINALIZED: null,
  VOIDED: 'VOIDED: nothing is to be paid',
  SKIPPED: 'SKIPPED: nothing is to be paid',
};

function factsOf(header: InvoiceHeader, zone: string): PrintedPage['facts'] {
  const local = (at: InstantMs | null): string | null =>
    at === null ? null : localDateText(at, zone);
  const [start, end] = [local(header.period_start), local(header.period_end)];
  const facts: readonly (readonly [string, string | null])[] = [
    ['Number', header.invoice_number],
    ['Issued', local(header.issue_date ?? header.finalized_at)],
    ['Due', local(header.due_date)],
    ['Period', start === null || end === null ? null : `${start} to ${end}`],
    ['Time zone', zone],
    ['Currency', header.currency.toUpperCase()],
    ['Subscription', header.subscription_id],
  ];
  return facts.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

/** What time a line is for, where it is not the period of the invoice: a fee in advance, say. */
function periodOfLine({ period_start: start, period_end: end }: InvoiceDto, zone: string) {
  return ({ period_start: from = start, period_end: until = end }: PrintedLine): string | null => {
    if (from === null || until === null || (from === start && until === end)) return null;
    const local = (at: string): string => localDateText(Date.parse(at), zone);
    return `${local(from)} to ${local(until)}`;
  };
}

function notesOf(invoice: InvoiceDto, zone: string, header: InvoiceHeader): readonly string[] {
  const hasUsage = invoice.line_items.some(({ price_type: type }) => type === 'USAGE');
  const counted =
    header.data_until === null
      ? null
      : `Every event that was received before ${localDateText(header.data_until, zone)} is counted.`;
  const until = hasUsage ? counted : 'No usage is part of this invoice.';
  return [invoice.description, until, `Id ${invoice.id ?? 'none'}`].filter(isText);
}

/** Who sells, as it is printed. */
export type Seller = {
  readonly tenant: Pick<TenantRow, 'name' | 'billing_details'>;
  readonly timezone: string;
};

/** The time zone of what is printed: of the subscription, of the customer, or of the seller. */
export function zoneOf(
  { subscription, customer }: Pick<InvoiceHeader, 'subscription' | 'customer'>,
  { timezone }: Seller,
): string {
  return subscription?.customer_timezone ?? customer.timezone ?? timezone;
}

/** Seller and customer as they are printed. */
export function partiesOf(
  { customer }: Pick<InvoiceHeader, 'customer'>,
  { tenant }: Seller,
): Pick<PrintedPage, 'seller' | 'customer'> {
  const { name, email, external_id: externalId } = customer;
  const { billing_details: details } = tenant;
  return {
    seller: [tenant.name, ...addressLines(details.address), details.email].filter(isText),
    customer: [name, ...addressLines(customer), email, externalId].filter(isText),
  };
}

/** What is printed of an invoice; its lines are made ready in slices. */
export async function printedPage(document: InvoiceDocument, seller: Seller): Promise<PrintedPage> {
  const { header } = document;
  const invoice = await invoiceToDtoInTurns(document, NO_WINDOWS);
  const zone = zoneOf(header, seller);
  const periodOf = periodOfLine(invoice, zone);
  const rows = await mapInTurns(invoice.line_items, (line) => lineRows(line, periodOf(line)));
  const title = TITLES[header.invoice_type];
  return {
    title,
    name: `${title} ${header.invoice_number ?? header.id ?? 'without a number'}`,
    notice: NOTICES[header.invoice_status],
    ...partiesOf(header, seller),
    facts: factsOf(header, zone),
    amountTitle: `Amount ${header.currency.toUpperCase()}`,
    rows: [...rows.flat(), ...totalRows(invoice)],
    notes: notesOf(invoice, zone, header),
    madeAt: header.finalized_at ?? header.last_computed_at,
  };
}
