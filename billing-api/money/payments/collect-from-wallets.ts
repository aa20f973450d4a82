import { maxOf, minOf, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { WalletRow } from '../../declarations/money/wallet.resource.js';
import { moneyOfCredits } from '../../domain/wallet/credits.js';
import { floorMoney } from '../../domain/money/money.js';
import type { Unit } from '../../records/unit.js';
import { usableCredits } from '../wallets/move-credits.js';
import { lockPayingWallets } from '../wallets/wallets-store.js';
import type { DocumentLine } from '../../documents/invoice-document.js';
import { newPayment, payByCredits, storePayment } from './take-payment.js';

/** A payment takes credits of at most so many wallets (docs/domain.md 17.3). */
const WALLETS_MAX = 5;

const isForAll = ({ config }: WalletRow): boolean => config.allowed_price_types.includes('ALL');

/** Wallets in the order in which they pay: for few kinds of lines first, then the fullest. */
function inOrder(wallets: readonly WalletRow[]): readonly WalletRow[] {
  const worth = ({ credit_balance: credits, conversion_rate: rate }: WalletRow): Decimal =>
    moneyOfCredits(credits, rate);
  const breadth = (wallet: WalletRow): number =>
    isForAll(wallet) ? Number.MAX_SAFE_INTEGER : wallet.config.allowed_price_types.length;
  return [...wallets].sort(
    (left, right) =>
      breadth(left) - breadth(right) ||
      worth(right).comparedTo(worth(left)) ||
      left.created_at - right.created_at,
  );
}

/** What lines of a kind cost after discounts and prepaid credits. */
function netOf(lines: readonly DocumentLine[], types: readonly string[]): Decimal {
  const own = lines.filter((line) => types.includes(line.price_type ?? 'FIXED'));
  return sumOf(
    own.map((line) =>
      maxOf(
        ZERO,
        line.amount
          .minus(line.line_item_discount)
          .minus(line.invoice_level_discount)
          .minus(line.prepaid_credits_applied),
      ),
    ),
  );
}

/**
 * POST_PAID wallets pay what is left of a locked invoice, each by a payment of credits. A wallet of
 * one kind of prices pays lines of that kind; only one for all pays taxes (docs/domain.md 20.7).
 */
export async function collectFromWallets(
  unit: Unit,
  invoice: InvoiceRow,
  lines: readonly DocumentLine[],
): Promise<InvoiceRow> {
  const found = await lockPayingWallets(unit, [invoice.customer_id], 'POST_PAID');
  const own = found.filter(({ currency }) => currency === invoice.currency);
  const paidOfKind = new Map<string, Decimal>();
  let row = invoice;
  for (const wallet of inOrder(own).slice(0, WALLETS_MAX)) {
    const types = wallet.config.allowed_price_types;
    const kind = types.join();
    const usable = sumOf((await usableCredits(unit, wallet)).map(({ available }) => available));
    const worth = floorMoney(moneyOfCredits(usable, wallet.conversion_rate), row.currency).value;
    // Absent means zero: no wallet of this kind has paid yet.
    const paidBefore = paidOfKind.get(kind) ?? ZERO;
    const limit = isForAll(wallet) ? row.amount_remaining : netOf(lines, types).minus(paidBefore);
    const amount = maxOf(ZERO, minOf(minOf(worth, limit), row.amount_remaining));
    if (amount.isZero()) continue;
    paidOfKind.set(kind, paidBefore.plus(amount));
    const given = { payment_method_type: 'CREDITS', payment_method_id: wallet.id, amount } as const;
    const payment = await storePayment(unit, newPayment(row, given));
    const done = await payByCredits(unit, { payment, invoice: row });
    row = assertPresent(done.invoice, 'the invoice that is paid');
  }
  return row;
}
