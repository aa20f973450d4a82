import { mustGet } from '../../runtime/failure.js';
import {
  creditGrantToDto,
  type CreditGrantDto,
} from '../declarations/credit-grants/credit-grant.resource.js';
import { planToDto, PLANS, type PlanDto } from '../declarations/catalog/plan.resource.js';
import {
  couponAssociationToDto,
  type CouponAssociationDto,
} from '../declarations/coupons/coupon-association.resource.js';
import {
  ANSWERED_CUSTOMERS,
  customerToDto,
  type CustomerDto,
} from '../declarations/customers/customer.resource.js';
import {
  invoiceHeaderToDto,
  type InvoiceHeaderDto,
} from '../declarations/invoices/invoice-header-dto.js';
import { refersTo, type Expansions } from '../records/expand-record.js';
import { phaseToDto, type PhaseDto } from '../declarations/subscriptions/phase.resource.js';
import { pauseToDto, type PauseDto } from '../declarations/subscriptions/pause.resource.js';
import type { ListDto } from '../records/record-dto.js';
import {
  lineItemToDto,
  type LineItemDto,
} from '../declarations/subscriptions/line-item.resource.js';
import type { InvoiceRow } from '../declarations/invoices/invoice.resource.js';
import type { LoadedSubscription } from './loaded-subscription.js';
import type { ShownRecords } from './related-records.js';
import {
  subscriptionToDto,
  type SubscriptionDto,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';

/** What a subscription refers to; in lists only when expanded. */
export interface SubscriptionExpansionsDto {
  customer?: CustomerDto | null;
  plan?: PlanDto | null;
}

/** What belongs to a subscription, wherever it is answered by itself or in a list. */
export interface SubscriptionBelongingsDto {
  pauses: PauseDto[];
  phases: PhaseDto[];
  coupon_associations: CouponAssociationDto[];
  credit_grants: CreditGrantDto[];
  /** The last one that was made; without its lines. */
  latest_invoice: InvoiceHeaderDto | null;
}

/** In lists `line_items` are null without `with_line_items`. */
export interface ExpandedSubscriptionDto
  extends SubscriptionDto, SubscriptionBelongingsDto, SubscriptionExpansionsDto {
  line_items?: LineItemDto[] | null;
}

export interface SubscriptionListDto extends ListDto<ExpandedSubscriptionDto> {}

export const SUBSCRIPTION_EXPANSIONS: Expansions<SubscriptionRow, SubscriptionExpansionsDto> = {
  customer: refersTo('customer_id', ANSWERED_CUSTOMERS, customerToDto),
  plan: refersTo('plan_id', PLANS, planToDto),
};

/** What belongs to one subscription. */
export function belongingsToDto(
  related: ShownRecords,
  latestInvoice: InvoiceRow | null,
): SubscriptionBelongingsDto {
  return {
    pauses: related.pauses.map(pauseToDto),
    phases: related.phases.map(phaseToDto),
    coupon_associations: related.coupons.map(couponAssociationToDto),
    credit_grants: related.creditGrants.map(creditGrantToDto),
    latest_invoice: latestInvoice === null ? null : invoiceHeaderToDto(latestInvoice),
  };
}

/** One subscription with everything that belongs to it. */
export function loadedSubscriptionToDto({
  subscription: row,
  related,
  latestInvoice,
}: LoadedSubscription): ExpandedSubscriptionDto {
  const customer = related.customers.get(row.customer_id);
  const plan = mustGet(related.plans, row.plan_id, 'the plan of a subscription');
  return {
    ...subscriptionToDto(row, plan),
    customer: customer === undefined ? null : customerToDto(customer),
    plan: planToDto(plan),
    line_items: related.lineItems.map((item) =>
      lineItemToDto(
        item,
        mustGet(related.prices, item.price_id, 'the price of a line'),
        related.symbols,
      ),
    ),
    ...belongingsToDto(related, latestInvoice),
  };
}
