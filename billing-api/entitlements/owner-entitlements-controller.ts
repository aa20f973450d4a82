import { Controller, Extension, Get, Path, Queries, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import type { OwnerReference } from '../owners/read-owner.js';
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';
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
export class OwnerEntitlementsController extends Controller {
  constructor(private readonly dependencies: ReadDependencies) {
    super();
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List the entitlements of a plan
   */
  @Get('plans/{id}/entitlements')
  @Tags('Plans')
  @Extension('x-operation', { entity: 'plan', access: 'read' })
  public listEntitlements(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Queries() query: ListQuery,
  ): Promise<EntitlementListDto> {
    return this.list(request, { id, kind: 'plan' }, query);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List the entitlements of an addon
   */
  @Get('addons/{id}/entitlements')
  @Tags('Addons')
  @Extension('x-operation', { entity: 'addon', access: 'read' })
  public listAddonEntitlements(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Queries() query: ListQuery,
  ): Promise<EntitlementListDto> {
    return this.list(request, { id, kind: 'addon' }, query);
  }

  private async list(
    request: HttpRequest,
    owner: OwnerReference,
    query: ListQuery,
  ): Promise<EntitlementListDto> {
    const list = { ...listRequestFrom(query), ...owner };
    const page = accepted(await listEntitlementsOf(this.dependencies, occasionOf(request), list));
    return pageToDto(page, expandedEntitlementToDto);
  }
}
