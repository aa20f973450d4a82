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
import { createSubscription } from './create/create-subscription.js';
import { readSubscriptionUsage } from '../invoices/subscription-usage/read-subscription-usage.js';
import { readSubscription, searchSubscriptions } from './read-subscriptions.js';
import { subscriptionCommandFrom } from './create/subscription-request.js';
import { subscriptionToDto, subscriptionToListDto } from './subscription-answer.js';
import type {
  CreateSubscriptionBody,
  SearchSubscriptionsBody,
  SubscriptionDto,
  SubscriptionListDto,
} from './subscription-dto.js';
import {
  subscriptionUsageToDto,
  type SubscriptionUsageBody,
  type SubscriptionUsageDto,
} from '../invoices/subscription-usage/subscription-usage-dto.js';
import { accepted } from '../edge/failure.js';
import { callerOf } from '../edge/request-context.js';
import type { ControllerDependencies } from '../ioc.js';
import { tagReadVersion, tagVersion } from '../edge/versions.js';

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
  ): Promise<SubscriptionDto> {
    const command = accepted(subscriptionCommandFrom(body, this.dependencies.clock.now()));
    const caller = callerOf(request);
    const created = accepted(await createSubscription(this.dependencies, caller, command));
    this.setStatus(201);
    tagVersion(this, created.subscription.version);
    return subscriptionToDto(created.subscription, {
      lineItems: created.lineItems,
      prices: created.prices,
      customers: new Map([[created.customer.id, created.customer]]),
      plans: new Map([[created.plan.id, created.plan]]),
    });
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
    const caller = callerOf(request);
    return subscriptionUsageToDto(
      accepted(await readSubscriptionUsage(this.dependencies, caller, body)),
    );
  }

  /** @summary Search subscriptions */
  @Post('search')
  @Extension('x-operation', { entity: 'subscription', access: 'read' })
  public async searchSubscriptions(
    @Request() request: HttpRequest,
    @Body() body: SearchSubscriptionsBody,
  ): Promise<SubscriptionListDto> {
    const page = accepted(await searchSubscriptions(this.dependencies, callerOf(request), body));
    const withLineItems = body.with_line_items === true;
    const wish = { expand: page.command.expand, withLineItems };
    return {
      items: page.rows.map((row) => subscriptionToListDto(row, page.surroundings, wish)),
      pagination: { limit: page.command.limit, offset: page.command.offset, total: page.total },
    };
  }

  /** @summary Read a subscription with its line items */
  @Get('{id}')
  @Extension('x-operation', { entity: 'subscription', access: 'read', versioned: true })
  public async readSubscription(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<SubscriptionDto> {
    const found = accepted(await readSubscription(this.dependencies, callerOf(request), id));
    tagReadVersion(this, request, found.subscription.version);
    return subscriptionToDto(found.subscription, found.surroundings);
  }
}
