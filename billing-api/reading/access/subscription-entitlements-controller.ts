import { Controller, Extension, Get, Path, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { ReadDependencies } from '../../records/unit.js';
import { readSubscriptionEntitlements } from './customer-entitlements.js';
import {
  customerEntitlementsToDto,
  type CustomerEntitlementsDto,
} from './customer-entitlements-dto.js';

@Route('v1/subscriptions')
@Tags('Subscriptions')
export class SubscriptionEntitlementsController extends Controller {
  constructor(private readonly dependencies: ReadDependencies) {
    super();
  }

  /**
   * What a subscription allows now, feature by feature; nothing unless it is in force.
   * @summary Read what a subscription allows
   */
  @Get('{id}/entitlements')
  @Extension('x-operation', { entity: 'subscription', access: 'read' })
  public async readSubscriptionEntitlements(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<CustomerEntitlementsDto> {
    const access = await readSubscriptionEntitlements(this.dependencies, occasionOf(request), id);
    return customerEntitlementsToDto(accepted(access));
  }
}
