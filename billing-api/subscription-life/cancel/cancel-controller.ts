import { Body, Controller, Extension, Path, Post, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { formatInstant } from '../../../contract/instant.js';
import { formatMoney, Money, roundMoney, zeroMoney } from '../../domain/money/money.js';
import { prorationDays } from '../../domain/calendar/proration.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions } from '../../edge/versions.js';
import { invoiceToDto } from '../../documents/answer/invoice-answer.js';
import {
  billEndedFirst,
  type RunningDependencies,
} from '../../invoicing/drafts/bill-ended-first.js';
import type { CancellationDto, CancelSubscriptionBody, ProrationDetailDto } from './cancel-dto.js';
import { cancelSubscription, type Cancelled } from './cancel-subscription.js';
import { creditSumsToDto } from '../settle/credit-sums-dto.js';

function detailsOf({ subscription, unused, atMs }: Cancelled): ProrationDetailDto[] {
  const { currency, customer_timezone: timezone } = subscription;
  return unused.map(({ row, lineItem, period, exact, charged }) => ({
    // The name is that of the addon where an addon brings the line.
    plan_name: row.plan_display_name ?? row.display_name,
    price_id: row.price_id,
    line_item_id: row.id,
    description: `Unused time of ${lineItem.displayName}`,
    original_amount: formatMoney(new Money(charged, currency)),
    credit_amount: formatMoney(roundMoney(exact, currency)),
    charge_amount: formatMoney(zeroMoney(currency)),
    proration_days: prorationDays(atMs, period.endMs, timezone),
  }));
}

function cancellationToDto(cancelled: Cancelled): CancellationDto {
  const { subscription, type, atMs, reason, invoice, processedAt, credited, isDry } = cancelled;
  const { currency } = subscription;
  const date = formatInstant(atMs);
  const isOver = subscription.subscription_status === 'cancelled';
  return {
    subscription_id: subscription.id,
    cancellation_type: type,
    effective_date: date,
    status: subscription.subscription_status,
    reason,
    proration_invoice: invoice === null ? null : invoiceToDto(invoice, null),
    proration_details: detailsOf(cancelled),
    total_credit_amount: formatMoney(new Money(credited.net.plus(credited.tax), currency)),
    credit: creditSumsToDto(credited, currency),
    message: isOver ? `the subscription ended at ${date}` : `the subscription will end at ${date}`,
    processed_at: formatInstant(processedAt),
    dry_run: isDry,
  };
}

@Route('v1/subscriptions')
@Tags('Subscriptions')
export class CancelController extends Controller {
  constructor(private readonly dependencies: RunningDependencies) {
    super();
  }

  /**
   * Ends a subscription at once, with a final invoice of what is not billed yet, or at a later
   * instant; until then it goes on.
   * @summary Cancel a subscription
   */
  @Post('{id}/cancel')
  @Extension('x-operation', { entity: 'subscription', access: 'write', rate: 'heavy' })
  public async cancelSubscription(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: CancelSubscriptionBody,
  ): Promise<CancellationDto> {
    const cancel = { target: { id, isExpected: expectedVersions(request) }, body };
    return cancellationToDto(
      accepted(
        await billEndedFirst(cancelSubscription, this.dependencies, occasionOf(request), cancel),
      ),
    );
  }
}
