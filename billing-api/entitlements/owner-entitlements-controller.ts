import { Extension, Get, Path, Queries, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../edge/api-controller.js';
import type { OwnerReference } from '../owners/read-owner.js';
import type { ReadDependencies } from '../records/unit.js';
import { listRequestFrom, type ListQuery } from '../records/list-request.js';
import { pageToDto } from '../records/search-records.js';
import { listEntitlementsOf } from './entitlement-operations.js';
import {
  expandedEntitlementToDto,
  type EntitlementListDto,
} from '../declarations/entitlements/entitlement.resource.js';

/** The entitlements of one plan or addon, below which they stand in the interface. */
@Route('v1')
export class OwnerEntitlementsController extends ApiController<ReadDependencies> {
  /**
   * Newest first unless sorted otherwise.
   * @summary List the entitlements of a plan
   */
  @Get('plans/{id}/entitlements')
  @Tags('Plans')
  @Extension('x-operation', { entity: 'plan', access: 'read' })
  public listEntitlements(
    @Path() id: string,
    @Queries() query: ListQuery,
  ): Promise<EntitlementListDto> {
    return this.list({ id, kind: 'plan' }, query);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List the entitlements of an addon
   */
  @Get('addons/{id}/entitlements')
  @Tags('Addons')
  @Extension('x-operation', { entity: 'addon', access: 'read' })
  public listAddonEntitlements(
    @Path() id: string,
    @Queries() query: ListQuery,
  ): Promise<EntitlementListDto> {
    return this.list({ id, kind: 'addon' }, query);
  }

  private async list(owner: OwnerReference, query: ListQuery): Promise<EntitlementListDto> {
    return pageToDto(
      await this.run(listEntitlementsOf, { ...listRequestFrom(query), ...owner }),
      expandedEntitlementToDto,
    );
  }
}
