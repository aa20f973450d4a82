import { Body, Controller, Extension, Get, Path, Put, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { WriteDependencies } from '../../records/unit.js';
import {
  tenantToDto,
  type ChangeTenantBody,
  type TenantDto,
} from '../../declarations/platform/tenant.js';
import { changeTenant, readTenant } from './tenant-operations.js';

@Route('v1/tenants')
@Tags('Tenants')
export class TenantsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /** @summary Read your tenant */
  @Get('{id}')
  @Extension('x-operation', { entity: 'tenant', access: 'read' })
  public async readTenant(@Request() request: HttpRequest, @Path() id: string): Promise<TenantDto> {
    return tenantToDto(accepted(await readTenant(this.dependencies, occasionOf(request), id)));
  }

  /** @summary Change your tenant */
  @Put('update')
  @Extension('x-operation', { entity: 'tenant', access: 'write' })
  public async changeTenant(
    @Request() request: HttpRequest,
    @Body() body: ChangeTenantBody,
  ): Promise<TenantDto> {
    return tenantToDto(accepted(await changeTenant(this.dependencies, occasionOf(request), body)));
  }
}
