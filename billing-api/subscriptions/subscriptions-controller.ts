import { Body, Extension, Get, Path, Post, Put, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../edge/api-controller.js';
import { tagReadVersion, tagVersion } from '../edge/versions.js';
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
export class SubscriptionsController extends ApiController<WriteDependencies> {
  /** @summary Search subscriptions */
  @Post('search')
  @Extension('x-operation', { entity: 'subscription', access: 'read' })
  public searchSubscriptions(@Body() body: SearchSubscriptionsBody): Promise<SubscriptionListDto> {
    return this.run(searchSubscriptions, body);
  }

  /** @summary Read a subscription with its line items */
  @Get('{id}')
  @Extension('x-operation', { entity: 'subscription', access: 'read', versioned: true })
  public async readSubscription(@Path() id: string): Promise<ExpandedSubscriptionDto> {
    const found = await this.run(readSubscription, id);
    tagReadVersion(this, this.request, found.subscription.version);
    return loadedSubscriptionToDto(found);
  }

  /**
   * Members that change no amount and no period.
   * @summary Change a subscription
   */
  @Put('{id}')
  @Extension('x-operation', { entity: 'subscription', access: 'write', versioned: true })
  public async changeSubscription(
    @Path() id: string,
    @Body() body: ChangeSubscriptionMembersBody,
  ): Promise<ExpandedSubscriptionDto> {
    const loaded = await this.run(changeSubscription, this.changeOf(id, body));
    tagVersion(this, loaded.subscription.version);
    return loadedSubscriptionToDto(loaded);
  }
}
