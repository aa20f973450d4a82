import { plain, type Decimal } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import type { PlanRow } from '../../declarations/catalog/plan.resource.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { formatMoney, Money } from '../../domain/money/money.js';
import { prorationDays } from '../../domain/calendar/proration.js';
import { instantToDto } from '../../records/record-dto.js';
import { invoiceToDto } from '../../documents/answer/invoice-answer.js';
import type { DocumentLine } from '../../documents/invoice-document.js';
import { documentOf } from '../../documents/store/document-parts.js';
import { creditSumsToDto } from '../settle/credit-sums-dto.js';
import type { ScheduledChange } from './schedule-change.js';
import type { StoredInvoice } from '../../invoicing/drafts/draft-invoices.js';
import type {
  ChangedSubscriptionDto,
  ChangePlanDto,
  ChangePreviewDto,
  ChangePreviewInvoiceDto,
  ChangePreviewLineDto,
  ChangeProrationDto,
  ChangeResultDto,
} from './change-dto.js';
import type { ChangedPlan } from './carry-out-change.js';
import { loweredQuantities } from './kept-quantities.js';
import { tokenOf } from './preview-token.js';

/** The invoice on which the credit is set off (docs/domain.md 25.3). */
function settlingInvoice({ change, opening, final }: ChangedPlan): StoredInvoice | null {
  return change.isChargedAtOnce ? opening : final;
}

function prorationToDto({
  change,
  plans,
  unused,
  credit,
  charge,
  after,
}: ChangedPlan): ChangeProrationDto {
  const { loaded, atMs } = change;
  const { subscription: old } = loaded;
  const { customer_timezone: timezone, current_period_start: start, currency } = old;
  const money = (amount: Decimal): string => formatMoney(new Money(amount, currency));
  const total = prorationDays(start, old.current_period_end, timezone);
  const left = prorationDays(atMs, old.current_period_end, timezone);
  const lines = unused.map(({ lineItem }) => lineItem.displayName).join(', ');
  return {
    credit_amount: money(credit.net),
    credit_description: unused.length === 0 ? 'Nothing is unused' : `Unused time of ${lines}`,
    charge_amount: money(charge),
    charge_description: `${plans.target.name} from ${formatInstant(after.current_period_start)} to ${formatInstant(after.current_period_end)}`,
    net_amount: money(charge.minus(credit.net)),
    credit: creditSumsToDto(credit, currency),
    proration_date: formatInstant(atMs),
    current_period_start: formatInstant(start),
    current_period_end: formatInstant(old.current_period_end),
    days_used: total - left,
    days_remaining: left,
    currency,
  };
}

function planToDto({ id, name, lookup_key, description }: PlanRow): ChangePlanDto {
  return { id, name, lookup_key, description };
}

function lineToDto(line: DocumentLine, currency: string): ChangePreviewLineDto {
  const { quantity, amount, trace } = line;
  return {
    description: line.display_name,
    amount: formatMoney(new Money(amount, currency)),
    quantity: plain(quantity),
    unit_price: quantity.isZero() ? null : plain(trace.rounding.exact.dividedBy(quantity)),
    period_start: instantToDto(line.period_start),
    period_end: instantToDto(line.period_end),
    is_proration: line.kind === 'credit',
  };
}

function invoicePreview({ row, parts }: StoredInvoice): ChangePreviewInvoiceDto {
  const { currency } = row;
  const money = (amount: Decimal): string => formatMoney(new Money(amount, currency));
  return {
    subtotal: money(row.subtotal),
    tax_amount: money(row.total_tax),
    total: money(row.total),
    currency,
    due_date: instantToDto(row.due_date),
    line_items: parts.lines.map((line) => lineToDto(line, currency)),
  };
}

/** What a change does that its request does not say. */
function warningsOf(changed: ChangedPlan): string[] {
  const { change, final, charge, credit } = changed;
  const { currency } = change.loaded.subscription;
  const money = (amount: Decimal): string =>
    `${formatMoney(new Money(amount, currency))} ${currency}`;
  return [
    ...(credit.lowered.isZero()
      ? []
      : [`${money(credit.lowered)} of the credit lowers what is not paid of earlier invoices`]),
    ...(credit.paidOut.isZero()
      ? []
      : [`${money(credit.paidOut)} of the credit goes to a wallet of the customer`]),
    ...(final === null || !change.isChargedAtOnce
      ? []
      : [`the old plan is billed up to now with a final invoice of ${money(final.row.total)}`]),
    ...loweredQuantities(change.loaded.related.lineItems, changed.lineItems, change.atMs),
    ...(charge.isZero() && credit.net.isZero()
      ? ['nothing is charged or credited in advance']
      : []),
  ];
}

/** What a change of plan would do. */
export function previewToDto(changed: ChangedPlan): ChangePreviewDto {
  const { change, plans, after, type } = changed;
  const invoice = settlingInvoice(changed);
  return {
    subscription_id: change.loaded.subscription.id,
    current_plan: planToDto(plans.current),
    target_plan: planToDto(plans.target),
    change_type: type,
    effective_date: formatInstant(change.atMs),
    warnings: warningsOf(changed),
    proration_details: prorationToDto(changed),
    next_invoice_preview: invoice === null ? null : invoicePreview(invoice),
    new_billing_cycle: {
      period_start: formatInstant(after.current_period_start),
      period_end: formatInstant(after.current_period_end),
      billing_anchor: formatInstant(after.billing_anchor),
      billing_cadence: after.billing_cadence,
      billing_period: after.billing_period,
      billing_period_count: after.billing_period_count,
    },
    preview_token: change.isAtPeriodEnd ? null : tokenOf(changed),
    metadata: after.metadata,
  };
}

function subscriptionToDto(row: SubscriptionRow): ChangedSubscriptionDto {
  return {
    id: row.id,
    status: row.subscription_status,
    plan_id: row.plan_id,
    current_period_start: formatInstant(row.current_period_start),
    current_period_end: formatInstant(row.current_period_end),
    billing_anchor: formatInstant(row.billing_anchor),
    created_at: formatInstant(row.created_at),
    archived_at: row.status === 'archived' ? formatInstant(row.updated_at) : null,
  };
}

/** What a change of plan has done. */
export function resultToDto(changed: ChangedPlan): ChangeResultDto {
  const { before, after, change, credit } = changed;
  const walletCredit = credit.transaction;
  const invoice = settlingInvoice(changed);
  const { currency } = after;
  return {
    is_scheduled: false,
    schedule_id: null,
    scheduled_at: null,
    old_subscription: subscriptionToDto(before),
    new_subscription: subscriptionToDto(after),
    change_type: changed.type,
    invoice: invoice === null ? null : invoiceToDto(documentOf(invoice.row, invoice.parts), null),
    proration_applied: prorationToDto(changed),
    credit_grants:
      walletCredit === null
        ? []
        : [
            {
              wallet_id: walletCredit.wallet_id,
              wallet_transaction_id: walletCredit.id,
              amount: formatMoney(new Money(walletCredit.amount, currency)),
            },
          ],
    effective_date: formatInstant(change.atMs),
    metadata: after.metadata,
  };
}

/** A change of plan that is to come. */
export function scheduledToDto({
  schedule,
  subscription,
  changed,
}: ScheduledChange): ChangeResultDto {
  const at = formatInstant(schedule.scheduled_at);
  return {
    is_scheduled: true,
    schedule_id: schedule.id,
    scheduled_at: at,
    old_subscription: subscriptionToDto(subscription),
    new_subscription: null,
    change_type: changed.type,
    invoice: null,
    proration_applied: null,
    credit_grants: [],
    effective_date: at,
    metadata: subscription.metadata,
  };
}
