import { formatInstant } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { groupBy } from '../../../runtime/group-by.js';
import type { CommitmentInfo, InvoiceLine } from '../../domain/invoice/invoice.js';
import { sumOfMoney, type Money } from '../../domain/money/money.js';
import type { PricedWindow } from '../../domain/rating/priced-window.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal } from '../../records/refusal.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';
import { computeInvoices } from '../../invoicing/compute/compute-invoice.js';
import { findPreviewQueries } from '../../invoicing/preview/preview-invoice.js';
import type { InvoicedPeriod } from './invoiced-periods.js';

/** What invoices charge for a line item. */
export type InvoicedCharge = {
  readonly subtotal: Money;
  readonly discount: Money;
  /** The commitment of the line and what all invoices charged for it; null without one. */
  readonly commitment: CommitmentInfo | null;
  /** Every window that was priced; null where the line is not priced by windows. */
  readonly windows: readonly PricedWindow[] | null;
};

/** What invoices charge, by line item; one that has no entry costs nothing. */
export type InvoicedCharges = {
  readonly byLine: ReadonlyMap<string, InvoicedCharge>;
  /** Whether they also charge the unused part of a subscription's commitment, which no line has. */
  readonly hasTrueUp: boolean;
};

function commitmentOf(lines: readonly InvoiceLine[], currency: string): CommitmentInfo | null {
  const all = lines
    .map(({ commitmentInfo }) => commitmentInfo)
    .filter((info): info is CommitmentInfo => info !== null);
  const last = all.at(-1);
  if (last === undefined) return null;
  const sumOf = (figure: (info: CommitmentInfo) => Money): Money =>
    sumOfMoney(all.map(figure), currency);
  return {
    ...last,
    utilized: sumOf(({ utilized }) => utilized),
    overage: sumOf(({ overage }) => overage),
    trueUp: sumOf(({ trueUp }) => trueUp),
  };
}

function chargeOf(lines: readonly InvoiceLine[]): InvoicedCharge {
  const { currency } = assertPresent(lines[0], 'a line of an invoice').amount;
  const windows = lines.flatMap(({ trace }) => (trace.windows === null ? [] : [trace.windows]));
  return {
    subtotal: sumOfMoney(
      lines.map(({ amount }) => amount),
      currency,
    ),
    discount: sumOfMoney(
      lines.flatMap((line) => [line.lineItemDiscount, line.invoiceLevelDiscount]),
      currency,
    ),
    commitment: commitmentOf(lines, currency),
    windows: windows.length === 0 ? null : windows.flat(),
  };
}

/**
 * What the invoices of billing periods charge for their line items, computed as previews are.
 * @returns null when one of them cannot be computed.
 */
export async function readInvoicedCharges(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  periods: readonly InvoicedPeriod[],
): Promise<InvoicedCharges | null> {
  const requests = periods.map(({ subscriptionId, period }) => ({
    subscription_id: subscriptionId,
    period_start: formatInstant(period.startMs),
    period_end: formatInstant(period.endMs),
  }));
  const charged: { readonly id: string; readonly line: InvoiceLine }[] = [];
  let hasTrueUp = false;
  const computed = computeInvoices(dependencies, occasion, (unit) =>
    findPreviewQueries(unit, requests),
  );
  for await (const one of computed) {
    if (isRefusal(one)) return null;
    for (const line of one.invoice.lines) {
      if (line.kind === 'true_up') hasTrueUp ||= !line.amount.value.isZero();
      else if (line.lineItem !== null) charged.push({ id: line.lineItem.id, line });
    }
  }
  const byLine = groupBy(charged, ({ id }) => id);
  return {
    hasTrueUp,
    byLine: new Map([...byLine].map(([id, own]) => [id, chargeOf(own.map(({ line }) => line))])),
  };
}
