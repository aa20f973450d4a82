import { Controller, Extension, Get, Path, Query, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../edge/http-failure.js';
import { callerOf } from '../edge/request-context.js';
import type { ControllerDependencies } from '../ioc.js';
import { listRequestFrom } from '../records/list-request.js';
import type { DateTime, RecordStatusDto } from '../records/record-dto.js';
import { pageToDto } from '../records/search-records.js';
import { listPlanEntitlements } from './entitlement-operations.js';
import { expandedEntitlementToDto, type EntitlementListDto } from './entitlement.resource.js';

/** The entitlements of one plan; they stand below `/plans` in the interface. */
@Route('v1/plans/{id}/entitlements')
@Tags('Plans')
export class PlanEntitlementsController extends Controller {
  constructor(private readonly dependencies: ControllerDependencies) {
    super();
  }

  // Each query parameter of a list is an argument: so tsoa wants it.
  /* eslint-disable max-params */
  /**
   * Newest first unless sorted otherwise.
   * @summary List the entitlements of a plan
   * @param sort A scalar member of the entitlement.
   * @param start_time Created at or after.
   * @param end_time Created before.
   * @isInt limit
   * @minimum limit 1
   * @maximum limit 1000
   * @isInt offset
   * @minimum offset 0
   * @maximum offset 1000000000
   */
  @Get()
  @Extension('x-operation', { entity: 'plan', access: 'read' })
  public async listEntitlements(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Query() limit?: number,
    @Query() offset?: number,
    @Query() status?: RecordStatusDto,
    @Query() sort?: string,
    @Query() order?: 'asc' | 'desc',
    @Query() expand?: string,
    @Query() start_time?: DateTime,
    @Query() end_time?: DateTime,
  ): Promise<EntitlementListDto> {
    const common = { limit, offset, status, sort, order, expand, start_time, end_time };
    const list = { ...listRequestFrom(common), planId: id };
    const page = accepted(await listPlanEntitlements(this.dependencies, callerOf(request), list));
    return pageToDto(page, expandedEntitlementToDto);
  }
}
