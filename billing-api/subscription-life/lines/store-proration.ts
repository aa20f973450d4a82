import type { Decimal } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import type { BillingReason } from '../../declarations/invoices/invoice.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import {
  payerOf,
  subscriptionToDto,
} from '../../declarations/subscriptions/subscription.resource.js';
import type { Proration } from '../../domain/calendar/proration.js';
import type { Unit } from '../../records/unit.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import type { CouponsOfRest } from '../../invoicing/compute/coupons-of-rest.js';
import { storeGivenInvoice } from '../../invoicing/invoices/create-invoice.js';

/** What a line item costs in advance for the rest of a period. */
export type ProratedLine = {
  readonly item: LineItemRow;
  readonly quantity: Decimal;
  /** Rounded to the currency. */
  readonly amount: Decimal;
  readonly exact: Decimal;
  readonly proration: Proration;
  readonly period: Interval;
};

/** Stores and finalizes the invoice of what line items cost for the rest of their periods. */
export function storeProration(
  unit: Unit,
  { subscription, related }: BilledSubscription,
  {
    reason,
    lines,
    period,
    discounts,
  }: {
    readonly reason: BillingReason;
    readonly lines: readonly ProratedLine[];
    readonly period: Interval;
    readonly discounts: CouponsOfRest;
  },
): Promise<InvoiceDocument> {
  const plan = mustGet(related.plans, subscription.plan_id, 'the plan of a subscription');
  return storeGivenInvoice(
    unit,
    {
      customerId: payerOf(subscription),
      currency: subscription.currency,
      type: 'ONE_OFF',
      reason,
      number: null,
      dueDate: null,
      description: null,
      coupons: [],
      taxRates: [],
      period,
      metadata: {},
      lines: lines.map(({ item, quantity, amount, exact, proration, period: own }) => ({
        displayName: item.display_name,
        amount,
        priceId: item.price_id,
        metadata: {},
        quantity,
        period: own,
        item: {
          subscription_line_item_id: item.id,
          entity_type: item.entity_type,
          entity_id: item.entity_id,
          plan_display_name: item.plan_display_name,
          exact,
          proration,
        },
      })),
    },
    { subscription: subscriptionToDto(subscription, plan), discounts },
  );
}
