import type { Answer as HttpAnswer, BillingUnderTest } from './billing-harness.js';
import { Decimal } from '../../contract/number/decimal.js';
import { minorDigitsOf } from '../domain/money/minor-digits.js';
import { roundMoney } from '../domain/money/money.js';
import type { Answer } from './money-test.js';

/** A customer of their own. */
export async function makeCustomer(api: BillingUnderTest, externalId = 'peer'): Promise<string> {
  return (await api.make('/v1/customers', { external_id: externalId })).id;
}

/** A rate of so many percent; its code. */
export async function makeTax(api: BillingUnderTest, percentage: string): Promise<string> {
  const code = `tax ${percentage}`;
  await api.make('/v1/taxes/rates', {
    name: code,
    code,
    tax_rate_type: 'percentage',
    percentage_value: percentage,
  });
  return code;
}

/** A finalized invoice with a line of each amount. */
export function giveInvoice(
  api: BillingUnderTest,
  amounts: readonly string[],
  {
    customerId,
    currency = 'usd',
    ...members
  }: { readonly customerId: string; readonly currency?: string } & Readonly<
    Record<string, unknown>
  >,
): Promise<Answer> {
  const total = amounts
    .reduce(
      (sum, amount) => sum.plus(roundMoney(new Decimal(amount), currency).value),
      new Decimal(0),
    )
    .toFixed(minorDigitsOf(currency));
  return api.make('/v1/invoices', {
    customer_id: customerId,
    currency,
    subtotal: total,
    total,
    amount_due: total,
    line_items: amounts.map((amount) => ({ display_name: 'Line', amount })),
    ...members,
  });
}

/** The body of a note on lines of an invoice, by their places. */
export const bodyOfNote = (invoice: Answer, amounts: Readonly<Record<number, string>>) => ({
  invoice_id: invoice.id,
  line_items: Object.entries(amounts).map(([place, amount]) => ({
    invoice_line_item_id: invoice.line_items[Number(place)].id,
    amount,
  })),
});

/** Asks for a note on lines of an invoice, by their places. */
export const noteOn = (
  api: BillingUnderTest,
  invoice: Answer,
  amounts: Readonly<Record<number, string>>,
): Promise<HttpAnswer> =>
  api.call('POST', '/v1/creditnotes', { body: bodyOfNote(invoice, amounts) });
