import { Body, Extension, Post, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { readSubscriptionUsage } from './read-subscription-usage.js';
import {
  subscriptionUsageToDto,
  type SubscriptionUsageBody,
  type SubscriptionUsageDto,
} from './subscription-usage-dto.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';

/** The subscription route whose answer is computed as invoices are. */
@Route('v1/subscriptions')
@Tags('Subscriptions')
export class SubscriptionUsageController extends ApiController<UsageReadDependencies> {
  /**
   * What the usage of a subscription costs, computed as the usage lines of an invoice are.
   * @summary Price the usage of a subscription
   */
  @Post('usage')
  @Extension('x-operation', {
    entity: 'subscription',
    access: 'read',
    rate: 'heavy',
    notFound: true,
  })
  public async readSubscriptionUsage(
    @Body() body: SubscriptionUsageBody,
  ): Promise<SubscriptionUsageDto> {
    return subscriptionUsageToDto(await this.run(readSubscriptionUsage, body));
  }
}
