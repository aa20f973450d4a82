import type { InvoiceDto, InvoiceListDto } from '../../billing-api/documents/answer/invoice-dto.js';
import { assertPresent } from '../../runtime/failure.js';
import type { ApiClient } from '../look/api-client.js';
import type { DemoCatalog } from './catalog.js';
import { forEachCustomer } from './customers.js';
import type { Recount } from './recount.js';

/** The billing job looks every two minutes for what is due. */
const BILLED_TIMEOUT_MS = 900_000;
const POLL_MS = 1_000;
const PAGE = 500;

const FINALIZED = { invoice_status: ['FINALIZED'], billing_reason: 'SUBSCRIPTION_CYCLE' };

/** The month in UTC of an instant. */
function monthOf(timestamp: string): { readonly start: string; readonly end: string } {
  const first = new Date(timestamp);
  const boundary = (months: number): string =>
    new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + months, 1)).toISOString();
  return { start: boundary(0), end: boundary(1) };
}

/** Subscribes customers to the plan for the one month of the log, which has ended long ago. */
export async function subscribeCustomers(
  api: ApiClient,
  { planId }: DemoCatalog,
  facts: {
    readonly customers: readonly string[];
    readonly firstEventAt: string;
    readonly onProgress: (done: number) => void;
  },
): Promise<void> {
  const { start, end } = monthOf(facts.firstEventAt);
  await forEachCustomer(facts.customers, facts.onProgress, async (customer) => {
    await api.post('/subscriptions', {
      external_customer_id: customer,
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: start,
      end_date: end,
    });
  });
}

/** Waits until the billing run has finalized so many invoices, by itself. */
export async function waitUntilBilled(
  api: ApiClient,
  count: number,
  onProgress: (done: number) => void,
): Promise<void> {
  const deadline = Date.now() + BILLED_TIMEOUT_MS;
  for (;;) {
    const asked = { ...FINALIZED, limit: 1, skip_line_items: true };
    const { pagination } = await api.post<InvoiceListDto>('/invoices/search', asked);
    onProgress(pagination.total);
    if (pagination.total >= count) return;
    if (Date.now() > deadline) {
      throw new Error(
        `${pagination.total} of ${count} invoices are final after the time that was given`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** The finalized invoices, in the order of their numbers. */
export async function readFinalized(api: ApiClient): Promise<readonly InvoiceDto[]> {
  const found: InvoiceDto[] = [];
  for (;;) {
    const { items } = await api.post<InvoiceListDto>('/invoices/search', {
      ...FINALIZED,
      limit: PAGE,
      offset: found.length,
      sort: [{ field: 'created_at', direction: 'asc' }],
    });
    found.push(...items);
    if (items.length < PAGE) break;
  }
  const numberOf = ({ invoice_number: number }: InvoiceDto): string => number ?? '';
  return found.toSorted((left, right) => (numberOf(left) < numberOf(right) ? -1 : 1));
}

/** In hundredths of a cent: 100 at 0.05; 200 at 0.025 and 1 once; the others at 0.0125. */
function requestsCharge(all: number): number {
  const second = Math.max(0, Math.min(all, 300) - 100);
  const third = Math.max(0, all - 300);
  return Math.min(all, 100) * 500 + second * 250 + (second > 0 ? 10_000 : 0) + third * 125;
}

/** A charge in hundredths of a cent as dollars, half up. */
function dollars(charge: number): string {
  const cents = Math.floor((charge + 50) / 100);
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

/** What an invoice must say, from the independent count and the prices, without the product. */
function expectedOf({ all, pages }: Recount): string {
  const ofRequests = dollars(requestsCharge(all));
  const ofPages = dollars(Math.ceil(pages / 50) * 9_900);
  const total = dollars((Number(ofRequests) + Number(ofPages)) * 10_000);
  return `${all} for ${ofRequests}, ${pages} for ${ofPages}, total ${total}`;
}

function saidBy({ line_items: lines, total }: InvoiceDto): string {
  const said = (name: string): string => {
    const line = assertPresent(
      lines.find(({ display_name: own }) => own === name),
      `the line ${name}`,
    );
    return `${line.quantity} for ${line.amount}`;
  };
  return `${said('HTTP requests')}, ${said('Pages delivered')}, total ${total}`;
}

/** The external id of the customer of an invoice. */
export function customerOf({ customer }: InvoiceDto): string {
  return assertPresent(customer?.external_id, 'the customer of an invoice');
}

/** A line for each customer without exactly the invoice that the independent count asks for. */
export function wrongInvoices(
  invoices: readonly InvoiceDto[],
  recount: ReadonlyMap<string, Recount>,
): readonly string[] {
  const said = new Map(invoices.map((invoice) => [customerOf(invoice), saidBy(invoice)]));
  const numbers = invoices.map(({ invoice_number: number }) =>
    Number(/\d+$/.exec(number ?? '')?.[0]),
  );
  const gap = numbers.findIndex((number, index) => number !== index + 1);
  const wrong = [...recount].flatMap(([customer, counted]) => {
    const expected = expectedOf(counted);
    const own = said.get(customer) ?? 'nothing';
    return own === expected ? [] : [`${customer}: invoiced ${own}, the file has ${expected}`];
  });
  return gap === -1 ? wrong : [...wrong, `invoice number ${gap + 1} is missing or repeated`];
}
