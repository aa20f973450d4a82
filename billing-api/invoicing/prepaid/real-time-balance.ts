import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, plain, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { numericColumn } from '../../../sql/columns.js';
import {
  WALLETS,
  walletToDto,
  type WalletDto,
  type WalletRow,
} from '../../declarations/money/wallet.resource.js';
import { moneyOfCredits } from '../../domain/wallet/credits.js';
import { formatMoney, roundMoney } from '../../domain/money/money.js';
import { isOfEnvironment, rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import { readRecord } from '../../records/find-record.js';
import type { Occasion } from '../../records/occasion.js';
import type { DateTime, DecimalText } from '../../records/record-dto.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readUnit, type ReadUnit } from '../../records/unit.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';
import { computeInvoices } from '../compute/compute-invoice.js';
import { documentOfComputed } from '../compute/document-of-computed.js';
import { findPreviewQueries } from '../preview/preview-invoice.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

/** Credits that can be used, by where they came from. */
export interface CreditsAvailableDto {
  purchased: DecimalText;
  free: DecimalText;
}

/** A wallet with what the usage of now has used up already. */
export interface RealTimeWalletDto extends WalletDto {
  /** `balance` less usage that is not invoiced, or not paid yet; may be less than 0. */
  real_time_balance: DecimalText;
  real_time_credit_balance: DecimalText;
  balance_updated_at: DateTime;
  current_period_usage: DecimalText;
  unpaid_invoices_amount: DecimalText;
  credits_available_breakdown: CreditsAvailableDto;
}

const amountRow = z.object({ amount: numericColumn.transform(decimalOf) });
const creditRow = z.object({
  purchased: numericColumn,
  free: numericColumn,
});
const idRow = z.object({ id: z.string() });

/**
 * The usage part of invoices that are not paid, after discounts and prepaid credits. What was paid
 * or credited of one counts on its usage, its other lines and its taxes alike.
 */
async function findUnpaid({ tx, now }: ReadUnit, wallet: WalletRow): Promise<Decimal> {
  const { amount } = await tx.one(sql.type(amountRow)`
    SELECT coalesce(sum(greatest(0, line.amount - line.line_item_discount - line.invoice_level_discount
      - line.prepaid_credits_applied)
      * CASE WHEN ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'draft')} THEN 1
        ELSE invoice.amount_remaining / nullif(invoice.total, 0) END), 0) AS amount
    FROM invoices AS invoice
    JOIN invoice_line_items AS line ON line.invoice_id = invoice.id AND ${rowIsOfEnvironment('line')}
    WHERE invoice.customer_id = ${wallet.customer_id} AND invoice.currency = ${wallet.currency}
      AND line.price_type = 'USAGE' AND ${rowIsOfEnvironment('invoice')}
      AND ((${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'draft')} AND invoice.period_end <= ${formatInstant(now)}::timestamptz)
        OR (${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'claimed')} AND invoice.amount_remaining > 0))`);
  return roundMoney(amount, wallet.currency).value;
}

async function findAvailable({ tx }: ReadUnit, { id }: WalletRow) {
  return tx.one(sql.type(creditRow)`
    SELECT coalesce(sum(credits_available) FILTER (WHERE transaction_reason LIKE 'PURCHASED_CREDIT_%'
        AND transaction_reason <> 'PURCHASED_CREDIT_BONUS'), 0) AS purchased,
      coalesce(sum(credits_available) FILTER (WHERE transaction_reason NOT LIKE 'PURCHASED_CREDIT_%'
        OR transaction_reason = 'PURCHASED_CREDIT_BONUS'), 0) AS free
    FROM wallet_transactions
    WHERE wallet_id = ${id} AND type = 'credit' AND transaction_status = 'completed'
      AND ${isOfEnvironment}`);
}

/** The usage charges of the running periods of what the customer pays, after discounts. */
async function currentUsage(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  wallet: WalletRow,
): Promise<Decimal | Refusal> {
  const computed = computeInvoices(dependencies, occasion, async (unit) => {
    const rows = await unit.tx.any(sql.type(idRow)`
      SELECT id FROM subscriptions
      WHERE ((customer_id = ${wallet.customer_id} AND invoicing_customer_id IS NULL)
          OR invoicing_customer_id = ${wallet.customer_id})
        AND subscription_type NOT IN ('inherited', 'grouped_invoicing')
        AND currency = ${wallet.currency} AND subscription_status = 'active' AND status = 'published' AND ${isOfEnvironment}
      ORDER BY id`);
    const requests = rows.map(({ id }) => ({ subscription_id: id }));
    return requests.length === 0 ? [] : findPreviewQueries(unit, requests);
  });
  let sum = ZERO;
  for await (const invoice of computed) {
    if (isRefusal(invoice)) return invoice;
    const { lines } = documentOfComputed(invoice);
    const own = lines.filter(({ price_type: type }) => type === 'USAGE');
    const charges = own.map((line) =>
      line.amount.minus(line.line_item_discount).minus(line.invoice_level_discount),
    );
    sum = sum.plus(sumOf(charges));
  }
  return sum;
}

/**
 * GET /wallets/{id}/balance/real-time: what a wallet has after the usage of now, as far as it will
 * pay for it (docs/domain.md 20.8).
 */
export async function readRealTimeBalance(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<RealTimeWalletDto | Refusal> {
  const read = await readUnit(dependencies, occasion, async (unit) => {
    const wallet = await readRecord(unit, WALLETS, id);
    const isPrepaid = wallet.wallet_type === 'PRE_PAID';
    const unpaid = isPrepaid ? await findUnpaid(unit, wallet) : ZERO;
    return {
      wallet,
      isPrepaid,
      unpaid,
      available: await findAvailable(unit, wallet),
      now: unit.now,
    };
  });
  if (isRefusal(read)) return read;
  const { wallet, isPrepaid, unpaid, available, now } = read;
  const usage = isPrepaid ? await currentUsage(dependencies, occasion, wallet) : ZERO;
  if (isRefusal(usage)) return usage;
  const { currency, conversion_rate: rate, credit_balance: credits } = wallet;
  const balance = moneyOfCredits(credits, rate).minus(usage).minus(unpaid);
  const money = (amount: Decimal): string => formatMoney(roundMoney(amount, currency));
  return {
    ...walletToDto(wallet),
    real_time_balance: plain(balance),
    real_time_credit_balance: plain(balance.dividedBy(rate).toDecimalPlaces(12)),
    balance_updated_at: formatInstant(now),
    current_period_usage: money(usage),
    unpaid_invoices_amount: money(unpaid),
    credits_available_breakdown: {
      purchased: plain(decimalOf(available.purchased)),
      free: plain(decimalOf(available.free)),
    },
  };
}
