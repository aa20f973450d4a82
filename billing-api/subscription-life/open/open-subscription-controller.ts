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
import { expectedVersions, tagVersion } from '../../edge/versions.js';
import {
  loadedSubscriptionToDto,
  type ExpandedSubscriptionDto,
} from '../../subscriptions/subscription-expansions.js';
import type { GatewayNeeds } from '../../money/gateway-payments/pending-payment.js';
import { activateSubscription, type ActivateSubscriptionBody } from './activate-subscription.js';
import type { CreateSubscriptionBody } from './create-subscription-body.js';
import { openSubscription } from './open-subscription.js';

/** A subscription that was just made. */
export interface CreatedSubscriptionDto extends ExpandedSubscriptionDto {
  /** Other subscriptions that bill the same usage; only where there are some. */
  warnings?: string[];
}

@Route('v1/subscriptions')
@Tags('Subscriptions')
export class OpenSubscriptionController extends Controller {
  constructor(private readonly dependencies: GatewayNeeds) {
    super();
  }

  /**
   * An active subscription with a line item for every price of the plan that matches its currency
   * and period.
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
  ): Promise<CreatedSubscriptionDto> {
    const created = accepted(await openSubscription(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, created.subscription.version);
    const warnings = [...created.warnings];
    return { ...loadedSubscriptionToDto(created), ...(warnings.length > 0 && { warnings }) };
  }

  /**
   * A draft begins at an instant, as if it had been created with it.
   * @summary Activate a subscription
   */
  @Post('{id}/activate')
  @Extension('x-operation', { entity: 'subscription', access: 'write', versioned: true })
  public async activateSubscription(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ActivateSubscriptionBody,
  ): Promise<ExpandedSubscriptionDto> {
    const activation = { target: { id, isExpected: expectedVersions(request) }, body };
    const done = await activateSubscription(this.dependencies, occasionOf(request), activation);
    const activated = accepted(done);
    tagVersion(this, activated.subscription.version);
    return loadedSubscriptionToDto(activated);
  }
}
