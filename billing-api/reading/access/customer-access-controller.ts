import { Extension, Get, Path, Queries, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import type { CustomerName } from '../../customers/named-customer.js';
import type { WriteDependencies } from '../../records/unit.js';
import { listRequestFrom, type ListQuery } from '../../records/list-request.js';
import type { SubscriptionListDto } from '../../subscriptions/subscription-expansions.js';
import { listSubscriptionsOfCustomer } from '../../subscriptions/subscription-operations.js';
import { readCustomerEntitlements, type EntitlementsQuery } from './customer-entitlements.js';
import {
  customerEntitlementsToDto,
  type CustomerEntitlementsDto,
} from './customer-entitlements-dto.js';

/** What a customer has by its subscriptions; it stands below `/customers` in the interface. */
@Route('v1/customers')
@Tags('Customers')
export class CustomerAccessController extends ApiController<WriteDependencies> {
  /**
   * What all subscriptions in force allow together, feature by feature.
   * @summary Read what a customer may use, by your own id of it
   */
  @Get('external/{external_id}/entitlements')
  @Extension('x-operation', { entity: 'customer', access: 'read' })
  public readEntitlementsByExternalId(
    @Path() external_id: string,
    @Queries() query: EntitlementsQuery,
  ): Promise<CustomerEntitlementsDto> {
    return this.entitlements({ externalId: external_id }, query);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List the subscriptions of a customer
   */
  @Get('external/{external_id}/subscriptions')
  @Extension('x-operation', { entity: 'customer', access: 'read' })
  public listCustomerSubscriptions(
    @Path() external_id: string,
    @Queries() query: ListQuery,
  ): Promise<SubscriptionListDto> {
    return this.run(listSubscriptionsOfCustomer, {
      ...listRequestFrom(query),
      externalId: external_id,
    });
  }

  /**
   * What all subscriptions in force allow together, feature by feature.
   * @summary Read what a customer may use
   */
  @Get('{id}/entitlements')
  @Extension('x-operation', { entity: 'customer', access: 'read' })
  public readCustomerEntitlements(
    @Path() id: string,
    @Queries() query: EntitlementsQuery,
  ): Promise<CustomerEntitlementsDto> {
    return this.entitlements({ id }, query);
  }

  private async entitlements(
    name: CustomerName,
    query: EntitlementsQuery,
  ): Promise<CustomerEntitlementsDto> {
    return customerEntitlementsToDto(await this.run(readCustomerEntitlements, { name, query }));
  }
}
