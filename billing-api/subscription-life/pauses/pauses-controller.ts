import {
  Body,
  Controller,
  Extension,
  Path,
  Post,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { formatInstant } from '../../../contract/instant.js';
import { pauseToDto } from '../../declarations/subscriptions/pause.resource.js';
import { expectedVersions } from '../../edge/versions.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { instantToDto } from '../../records/record-dto.js';
import {
  billEndedFirst,
  type RunningDependencies,
} from '../../invoicing/drafts/bill-ended-first.js';
import { loadedSubscriptionToDto } from '../../subscriptions/subscription-expansions.js';
import type { AnsweredPause } from './answered-pause.js';
import type {
  PausedSubscriptionDto,
  PauseSubscriptionBody,
  ResumeSubscriptionBody,
} from './pause-dto.js';
import { pauseSubscription } from './pause-subscription.js';
import { resumeSubscription } from './resume-subscription.js';

function pausedToDto(
  { subscription, pause: row, impact }: AnsweredPause,
  isDry: boolean,
): PausedSubscriptionDto {
  const pause = pauseToDto(row);
  return {
    subscription: loadedSubscriptionToDto(subscription),
    pause,
    billing_impact: {
      period_end_before: formatInstant(impact.endBefore),
      period_end_after: instantToDto(impact.endAfter),
      next_invoice_at: instantToDto(impact.nextInvoiceAt),
    },
    dry_run: isDry,
    ...pause,
  };
}

@Route('v1/subscriptions')
@Tags('Subscriptions')
export class PausesController extends Controller {
  constructor(private readonly dependencies: RunningDependencies) {
    super();
  }

  /**
   * Stops the billing of an active subscription: at once, at an instant, or from the end of its
   * period on. Its period then lasts as much longer.
   * @summary Pause a subscription
   */
  @Post('{id}/pause')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'subscription', access: 'write' })
  public async pauseSubscription(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: PauseSubscriptionBody,
  ): Promise<PausedSubscriptionDto> {
    const wanted = { target: { id, isExpected: expectedVersions(request) }, body };
    return pausedToDto(
      accepted(
        await billEndedFirst(pauseSubscription, this.dependencies, occasionOf(request), wanted),
      ),
      body.dry_run === true,
    );
  }

  /**
   * Lets the billing go on, at once or at an instant. A pause that has not begun is cancelled.
   * @summary Resume a subscription
   */
  @Post('{id}/resume')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'subscription', access: 'write' })
  public async resumeSubscription(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ResumeSubscriptionBody,
  ): Promise<PausedSubscriptionDto> {
    const wanted = { target: { id, isExpected: expectedVersions(request) }, body };
    return pausedToDto(
      accepted(await resumeSubscription(this.dependencies, occasionOf(request), wanted)),
      body.dry_run === true,
    );
  }
}
