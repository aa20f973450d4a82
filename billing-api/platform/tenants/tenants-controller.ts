import { Body, Extension, Get, Path, Put, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import type { WriteDependencies } from '../../records/unit.js';
import {
  tenantToDto,
  type ChangeTenantBody,
  type TenantDto,
} from '../../declarations/platform/tenant.js';
import { changeTenant, readTenant } from './tenant-operations.js';

@Route('v1/tenants')
@Tags('Tenants')
export class TenantsController extends ApiController<WriteDependencies> {
  /** @summary Read your tenant */
  @Get('{id}')
  @Extension('x-operation', { entity: 'tenant', access: 'read' })
  public async readTenant(@Path() id: string): Promise<TenantDto> {
    return tenantToDto(await this.run(readTenant, id));
  }

  /** @summary Change your tenant */
  @Put('update')
  @Extension('x-operation', { entity: 'tenant', access: 'write' })
  public async changeTenant(@Body() body: ChangeTenantBody): Promise<TenantDto> {
    return tenantToDto(await this.run(changeTenant, body));
  }
}
