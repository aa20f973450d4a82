import {
  Body,
  Controller,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Request,
  Route,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../edge/versions.js';
import type { WriteDependencies } from '../records/unit.js';
import { changeSubscription, type ChangeSubscriptionMembersBody } from './change-subscription.js';
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
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /** @summary Search subscriptions */
  @Post('search')
  @Extension('x-operation', { entity: 'subscription', access: 'read' })
  public async searchSubscriptions(
    @Request() request: HttpRequest,
    @Body() body: SearchSubscriptionsBody,
  ): Promise<SubscriptionListDto> {
    return accepted(await searchSubscriptions(this.dependencies, occasionOf(request), body));
  }

  /** @summary Read a subscription with its line items */
  @Get('{id}')
  @Extension('x-operation', { entity: 'subscription', access: 'read', versioned: true })
  public async readSubscription(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<ExpandedSubscriptionDto> {
    const found = accepted(await readSubscription(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, found.subscription.version);
    return loadedSubscriptionToDto(found);
  }

  /**
   * Members that change no amount and no period.
   * @summary Change a subscription
   */
  @Put('{id}')
  @Extension('x-operation', { entity: 'subscription', access: 'write', versioned: true })
  public async changeSubscription(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeSubscriptionMembersBody,
  ): Promise<ExpandedSubscriptionDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const changed = await changeSubscription(this.dependencies, occasionOf(request), change);
    const loaded = accepted(changed);
    tagVersion(this, loaded.subscription.version);
    return loadedSubscriptionToDto(loaded);
  }
}
