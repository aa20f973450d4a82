import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, plain, type Decimal } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { integerColumn, numericColumn } from '../../../sql/columns.js';
import { CUSTOMERS } from '../../declarations/customers/customer.resource.js';
import { WALLETS } from '../../declarations/money/wallet.resource.js';
import { formatMoney, Money, roundMoney } from '../../domain/money/money.js';
import { isOfEnvironment, rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import { readRecord } from '../../records/find-record.js';
import type { Occasion } from '../../records/occasion.js';
import type { Currency, DecimalText } from '../../records/record-dto.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readOperation } from '../../records/operation.js';
import { readUnit } from '../../records/unit.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';
import { readRealTimeBalance, type RealTimeWalletDto } from './real-time-balance.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

/** The invoices of a customer in one currency. */
export interface InvoiceSummaryDto {
  currency: Currency;
  /** The totals of finalized invoices. */
  total_revenue: DecimalText;
  total_unpaid: DecimalText;
  /** Of that, what is due by now. */
  total_overdue: DecimalText;
  /** Of `total_unpaid`, the part for usage (docs/http.md 4). */
  unpaid_usage: DecimalText;
  /** The rest of it. */
  unpaid_fixed: DecimalText;
  /** Finalized ones. @isInt */
  invoice_count: number;
  /** Those of them that are not paid. @isInt */
  unpaid_invoice_count: number;
  /** Those of them that should be paid by now. @isInt */
  overdue_invoice_count: number;
  /** What wallets of the currency hold, in money. */
  wallet_balance: DecimalText;
  /** What the ledger says that the customer owes; less than 0 after an overpayment. */
  receivable: DecimalText;
}

/** One of `items` by the names that clients of other systems know (docs/http.md 18). */
export interface NamedInvoiceSummaryDto {
  currency: Currency;
  customer_id: string;
  total_revenue_amount: DecimalText;
  total_unpaid_amount: DecimalText;
  total_overdue_amount: DecimalText;
  unpaid_usage_charges: DecimalText;
  unpaid_fixed_charges: DecimalText;
  /** @isInt */
  total_invoice_count: number;
  /** @isInt */
  unpaid_invoice_count: number;
  /** @isInt */
  overdue_invoice_count: number;
}

export interface InvoiceSummariesDto {
  items: InvoiceSummaryDto[];
  summaries: NamedInvoiceSummaryDto[];
  customer_id: string;
}

const amount = numericColumn.transform(decimalOf);
const summaryRow = z.object({
  currency: z.string(),
  total_revenue: amount,
  total_unpaid: amount,
  total_overdue: amount,
  unpaid_usage: amount,
  invoice_count: integerColumn,
  unpaid_invoice_count: integerColumn,
  overdue_invoice_count: integerColumn,
  wallet_balance: amount,
  receivable: amount,
});

function summaryToDto({ currency, ...row }: z.output<typeof summaryRow>): InvoiceSummaryDto {
  const money = (value: Decimal): string => formatMoney(new Money(value, currency));
  const unpaidUsage = roundMoney(row.unpaid_usage, currency).value;
  return {
    currency,
    total_revenue: money(row.total_revenue),
    total_unpaid: money(row.total_unpaid),
    total_overdue: money(row.total_overdue),
    unpaid_usage: money(unpaidUsage),
    unpaid_fixed: money(row.total_unpaid.minus(unpaidUsage)),
    invoice_count: row.invoice_count,
    unpaid_invoice_count: row.unpaid_invoice_count,
    overdue_invoice_count: row.overdue_invoice_count,
    wallet_balance: plain(row.wallet_balance),
    receivable: plain(row.receivable),
  };
}

function namedSummary(customerId: string, summary: InvoiceSummaryDto): NamedInvoiceSummaryDto {
  return {
    currency: summary.currency,
    customer_id: customerId,
    total_revenue_amount: summary.total_revenue,
    total_unpaid_amount: summary.total_unpaid,
    total_overdue_amount: summary.total_overdue,
    unpaid_usage_charges: summary.unpaid_usage,
    unpaid_fixed_charges: summary.unpaid_fixed,
    total_invoice_count: summary.invoice_count,
    unpaid_invoice_count: summary.unpaid_invoice_count,
    overdue_invoice_count: summary.overdue_invoice_count,
  };
}

/** GET /customers/{id}/invoices/summary: what a customer has paid and owes, by currency. */
export const summarizeInvoices = readOperation(
  async (unit, id: string): Promise<InvoiceSummariesDto> => {
    await readRecord(unit, CUSTOMERS, id);
    const rows = await unit.tx.any(sql.type(summaryRow)`
      WITH own AS (
        SELECT * FROM invoices WHERE customer_id = ${id} AND ${rowIsIn(['invoice_status'], INVOICE, 'claimed')}
          AND ${isOfEnvironment}
      ), net AS (
        SELECT line.invoice_id, line.price_type = 'USAGE' AS is_usage, greatest(0, line.amount
          - line.line_item_discount - line.invoice_level_discount - line.prepaid_credits_applied) AS amount
        FROM own JOIN invoice_line_items AS line
          ON line.invoice_id = own.id AND ${rowIsOfEnvironment('line')}
        WHERE own.amount_remaining > 0
      ), share AS (
        SELECT invoice_id, sum(amount) AS whole, sum(amount) FILTER (WHERE is_usage) AS usage
        FROM net GROUP BY invoice_id
      ), unpaid AS (
        SELECT own.currency, sum(own.amount_remaining * share.usage / share.whole) AS usage
        FROM own JOIN share ON share.invoice_id = own.id WHERE share.whole > 0 GROUP BY own.currency
      ), held AS (
        SELECT currency, sum(credit_balance * conversion_rate) AS amount FROM wallets
        WHERE customer_id = ${id} AND ${isOfEnvironment} GROUP BY currency
      ), posted AS (
        SELECT currency, sum(amount) AS amount FROM ledger_postings
        WHERE customer_id = ${id} AND account = 'receivable' AND ${isOfEnvironment} GROUP BY currency
      ), known AS (
        SELECT currency FROM own UNION SELECT currency FROM held UNION SELECT currency FROM posted
      )
      SELECT known.currency,
        coalesce(sum(own.total), 0) AS total_revenue,
        coalesce(sum(own.amount_remaining), 0) AS total_unpaid,
        coalesce(sum(own.amount_remaining) FILTER (
          WHERE own.due_date < ${formatInstant(unit.now)}::timestamptz), 0) AS total_overdue,
        coalesce((SELECT usage FROM unpaid WHERE unpaid.currency = known.currency), 0) AS unpaid_usage,
        count(own.id) AS invoice_count,
        count(own.id) FILTER (WHERE own.amount_remaining > 0) AS unpaid_invoice_count,
        count(own.id) FILTER (WHERE own.amount_remaining > 0
          AND own.due_date < ${formatInstant(unit.now)}::timestamptz) AS overdue_invoice_count,
        coalesce((SELECT amount FROM held WHERE held.currency = known.currency), 0) AS wallet_balance,
        coalesce((SELECT amount FROM posted WHERE posted.currency = known.currency), 0) AS receivable
      FROM known LEFT JOIN own ON own.currency = known.currency
      GROUP BY known.currency ORDER BY known.currency`);
    const items = rows.map(summaryToDto);
    const summaries = items.map((item) => namedSummary(id, item));
    return { items, summaries, customer_id: id };
  },
);

export interface RealTimeWalletsDto {
  items: RealTimeWalletDto[];
}

const idRow = z.object({ id: z.string() });

/** GET /customers/{id}/wallets: those that are not closed, with what they have now. */
export async function listCustomerWallets(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<RealTimeWalletsDto | Refusal> {
  const found = await readUnit(dependencies, occasion, async (unit) => {
    await readRecord(unit, CUSTOMERS, id);
    return unit.tx.any(sql.type(idRow)`
      SELECT id FROM ${sql.identifier([WALLETS.table])}
      WHERE customer_id = ${id} AND wallet_status <> 'closed' AND ${isOfEnvironment}
      ORDER BY created_at, id`);
  });
  if (isRefusal(found)) return found;
  const items: RealTimeWalletDto[] = [];
  for (const wallet of found) {
    const balance = await readRealTimeBalance(dependencies, occasion, wallet.id);
    if (isRefusal(balance)) return balance;
    items.push(balance);
  }
  return { items };
}
