import { Body, Controller, Extension, Post, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
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
export class SubscriptionUsageController extends Controller {
  constructor(private readonly dependencies: UsageReadDependencies) {
    super();
  }

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
    @Request() request: HttpRequest,
    @Body() body: SubscriptionUsageBody,
  ): Promise<SubscriptionUsageDto> {
    const occasion = occasionOf(request);
    return subscriptionUsageToDto(
      accepted(await readSubscriptionUsage(this.dependencies, occasion, body)),
    );
  }
}
