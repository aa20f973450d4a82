import {
  Body,
  Controller,
  Extension,
  Post,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { tagVersion } from '../../edge/versions.js';
import type { WriteDependencies } from '../../records/unit.js';
import {
  loadedSubscriptionToDto,
  type ExpandedSubscriptionDto,
} from '../../subscriptions/subscription-expansions.js';
import type { CreateSubscriptionBody } from './create-subscription-body.js';
import { openSubscription } from './open-subscription.js';

@Route('v1/subscriptions')
@Tags('Subscriptions')
export class OpenSubscriptionController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * An active subscription with a line item for every price of the plan that matches its currency
   * and period. Members of features that are not available yet are refused by name.
   * @summary Create a subscription
   */
  @Post()
  @Extension('x-operation', {
    entity: 'subscription',
    access: 'write',
    notFound: true,
    versioned: true,
  })
  @SuccessResponse(201, 'Created')
  public async createSubscription(
    @Request() request: HttpRequest,
    @Body() body: CreateSubscriptionBody,
  ): Promise<ExpandedSubscriptionDto> {
    const created = accepted(await openSubscription(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, created.subscription.version);
    return loadedSubscriptionToDto(created);
  }
}
