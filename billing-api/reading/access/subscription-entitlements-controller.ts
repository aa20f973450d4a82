import { Extension, Get, Path, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import type { ReadDependencies } from '../../records/unit.js';
import { readSubscriptionEntitlements } from './customer-entitlements.js';
import {
  customerEntitlementsToDto,
  type CustomerEntitlementsDto,
} from './customer-entitlements-dto.js';

@Route('v1/subscriptions')
@Tags('Subscriptions')
export class SubscriptionEntitlementsController extends ApiController<ReadDependencies> {
  /**
   * What a subscription allows now, feature by feature; nothing unless it is in force.
   * @summary Read what a subscription allows
   */
  @Get('{id}/entitlements')
  @Extension('x-operation', { entity: 'subscription', access: 'read' })
  public async readSubscriptionEntitlements(@Path() id: string): Promise<CustomerEntitlementsDto> {
    return customerEntitlementsToDto(await this.run(readSubscriptionEntitlements, id));
  }
}
