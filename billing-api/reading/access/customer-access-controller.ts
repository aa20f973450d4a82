import { Controller, Extension, Get, Path, Queries, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import type { CustomerName } from '../../customers/named-customer.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
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
export class CustomerAccessController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * What all subscriptions in force allow together, feature by feature.
   * @summary Read what a customer may use, by your own id of it
   */
  @Get('external/{external_id}/entitlements')
  @Extension('x-operation', { entity: 'customer', access: 'read' })
  public readEntitlementsByExternalId(
    @Request() request: HttpRequest,
    @Path() external_id: string,
    @Queries() query: EntitlementsQuery,
  ): Promise<CustomerEntitlementsDto> {
    return this.entitlements(request, { externalId: external_id }, query);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List the subscriptions of a customer
   */
  @Get('external/{external_id}/subscriptions')
  @Extension('x-operation', { entity: 'customer', access: 'read' })
  public async listCustomerSubscriptions(
    @Request() request: HttpRequest,
    @Path() external_id: string,
    @Queries() query: ListQuery,
  ): Promise<SubscriptionListDto> {
    const list = { ...listRequestFrom(query), externalId: external_id };
    return accepted(
      await listSubscriptionsOfCustomer(this.dependencies, occasionOf(request), list),
    );
  }

  /**
   * What all subscriptions in force allow together, feature by feature.
   * @summary Read what a customer may use
   */
  @Get('{id}/entitlements')
  @Extension('x-operation', { entity: 'customer', access: 'read' })
  public readCustomerEntitlements(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Queries() query: EntitlementsQuery,
  ): Promise<CustomerEntitlementsDto> {
    return this.entitlements(request, { id }, query);
  }

  private async entitlements(
    request: HttpRequest,
    name: CustomerName,
    query: EntitlementsQuery,
  ): Promise<CustomerEntitlementsDto> {
    const occasion = occasionOf(request);
    const access = await readCustomerEntitlements(this.dependencies, occasion, { name, query });
    return customerEntitlementsToDto(accepted(access));
  }
}
