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
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions } from '../../edge/versions.js';
import {
  billEndedFirst,
  type RunningDependencies,
} from '../../invoicing/drafts/bill-ended-first.js';
import { scheduleChange } from './schedule-change.js';
import { previewToDto, resultToDto, scheduledToDto } from './change-answer.js';
import type { ChangePreviewDto, ChangeResultDto, ChangeSubscriptionBody } from './change-dto.js';
import { executeChange, previewChange } from './change-subscription.js';

@Route('v1/subscriptions')
@Tags('Subscriptions')
export class ChangeController extends Controller {
  constructor(private readonly dependencies: RunningDependencies) {
    super();
  }

  /**
   * What changing the plan would credit and charge now. Nothing is stored; the token executes
   * exactly this within 15 minutes.
   * @summary Preview a change of plan
   */
  @Post('{id}/change/preview')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', {
    entity: 'subscription',
    access: 'read',
    rate: 'heavy',
    notFound: true,
    repeatable: false,
    overtaken: true,
  })
  public async previewSubscriptionChange(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeSubscriptionBody,
  ): Promise<ChangePreviewDto> {
    const wanted = { target: { id }, body };
    return previewToDto(
      accepted(await billEndedFirst(previewChange, this.dependencies, occasionOf(request), wanted)),
    );
  }

  /**
   * Bills the subscription up to now and cancels it, and begins a new one on the target plan; what
   * is unused of fees that were charged in advance is taken off its first invoice. With
   * `end_of_period` that happens when the running period ends.
   * @summary Change the plan of a subscription
   */
  @Post('{id}/change/execute')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', {
    entity: 'subscription',
    access: 'write',
    rate: 'heavy',
    notFound: true,
  })
  public async executeSubscriptionChange(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeSubscriptionBody,
  ): Promise<ChangeResultDto> {
    const wanted = { target: { id, isExpected: expectedVersions(request) }, body };
    const occasion = occasionOf(request);
    if (body.change_at === 'end_of_period') {
      return scheduledToDto(accepted(await scheduleChange(this.dependencies, occasion, wanted)));
    }
    return resultToDto(
      accepted(await billEndedFirst(executeChange, this.dependencies, occasion, wanted)),
    );
  }
}
