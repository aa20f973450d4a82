import {
  Body,
  Controller,
  Extension,
  Get,
  Path,
  Post,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../edge/http-failure.js';
import { callerOf } from '../edge/request-context.js';
import { tagReadVersion, tagVersion } from '../edge/versions.js';
import type { ControllerDependencies } from '../ioc.js';
import type { CreateSubscriptionBody } from './create/create-subscription-body.js';
import { createSubscription } from './create/create-subscription.js';
import { readSubscription } from './loaded-subscription.js';
import {
  loadedSubscriptionToDto,
  type ExpandedSubscriptionDto,
  type SubscriptionListDto,
} from './subscription-expansions.js';
import { searchSubscriptions } from './subscription-operations.js';
import type { SearchSubscriptionsBody } from './subscription-search.js';

@Route('v1/subscriptions')
@Tags('Subscriptions')
export class SubscriptionsController extends Controller {
  constructor(private readonly dependencies: ControllerDependencies) {
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
    const created = accepted(await createSubscription(this.dependencies, callerOf(request), body));
    this.setStatus(201);
    tagVersion(this, created.subscription.version);
    return loadedSubscriptionToDto(created);
  }

  /** @summary Search subscriptions */
  @Post('search')
  @Extension('x-operation', { entity: 'subscription', access: 'read' })
  public async searchSubscriptions(
    @Request() request: HttpRequest,
    @Body() body: SearchSubscriptionsBody,
  ): Promise<SubscriptionListDto> {
    return accepted(await searchSubscriptions(this.dependencies, callerOf(request), body));
  }

  /** @summary Read a subscription with its line items */
  @Get('{id}')
  @Extension('x-operation', { entity: 'subscription', access: 'read', versioned: true })
  public async readSubscription(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<ExpandedSubscriptionDto> {
    const found = accepted(await readSubscription(this.dependencies, callerOf(request), id));
    tagReadVersion(this, request, found.subscription.version);
    return loadedSubscriptionToDto(found);
  }
}
