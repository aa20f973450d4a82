import { decimalOf, type Decimal } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import type { UnitSymbols } from '../../domain/price/price-unit.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import type { InvoiceLine } from '../../domain/invoice/invoice.js';
import { Money, sumOfMoney } from '../../domain/money/money.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';
import { computeInvoice } from '../../invoicing/compute/compute-invoice.js';
import { findUsageQuery, type SubscriptionUsageRequest } from './subscription-usage-query.js';

/** What the usage of a subscription costs over an interval, before discounts. */
export type SubscriptionUsage = {
  readonly subscription: SubscriptionRow;
  readonly currency: string;
  readonly range: Interval;
  /** The usage lines; a line that a commitment splits appears twice. */
  readonly charges: readonly InvoiceLine[];
  readonly prices: ReadonlyMap<string, PriceRow>;
  readonly symbols: UnitSymbols;
  readonly amount: Money;
  /** The commitment of the subscription; null where it has none. */
  readonly commitment: {
    readonly amount: Money;
    readonly overageFactor: Decimal;
    readonly utilized: Money;
  } | null;
  readonly overageAmount: Money;
};

function amountOf(lines: readonly InvoiceLine[], currency: string): Money {
  const amounts = lines.map(({ amount }) => amount);
  return sumOfMoney(amounts, currency);
}

function commitmentOf(
  { commitment_amount: amount, overage_factor: factor, currency }: SubscriptionRow,
  covered: readonly InvoiceLine[],
): SubscriptionUsage['commitment'] {
  if (amount === null || factor === null) return null;
  const utilized = amountOf(
    covered.filter(({ trace }) => trace.commitment !== null),
    currency,
  );
  return {
    amount: new Money(decimalOf(amount), currency),
    overageFactor: decimalOf(factor),
    utilized,
  };
}

/** POST /subscriptions/usage: computed as the usage lines of an invoice are. */
export async function readSubscriptionUsage(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  request: SubscriptionUsageRequest,
): Promise<SubscriptionUsage | Refusal> {
  const computed = await computeInvoice(dependencies, occasion, (unit) =>
    findUsageQuery(unit, request),
  );
  if (isRefusal(computed)) return computed;
  const { query, invoice } = computed;
  const { subscription, related } = query.loaded;
  const { currency } = invoice;
  // A true-up is no usage.
  const charges = invoice.lines.filter(({ kind }) => kind !== 'true_up');
  const covered = charges.filter(({ kind }) => kind === 'charge');
  return {
    subscription,
    currency,
    range: query.period,
    charges,
    prices: related.prices,
    symbols: query.symbols,
    amount: amountOf(charges, currency),
    commitment: commitmentOf(subscription, covered),
    overageAmount: amountOf(
      charges.filter(({ kind }) => kind === 'overage'),
      currency,
    ),
  };
}
