import { Controller, Extension, Get, Path, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { listRoles, readRole, type RoleDto, type RolesDto } from './read-roles.js';

@Route('v1/rbac/roles')
@Tags('Roles')
export class RolesController extends Controller {
  /**
   * They are the same for everybody.
   * @summary List roles with what they permit
   */
  @Get()
  @Extension('x-operation', { entity: 'role', access: 'read' })
  public listRoles(@Request() _request: HttpRequest): Promise<RolesDto> {
    return Promise.resolve({ items: [...listRoles()] });
  }

  /** @summary Read a role with what it permits */
  @Get('{id}')
  @Extension('x-operation', { entity: 'role', access: 'read' })
  public readRole(@Request() _request: HttpRequest, @Path() id: string): Promise<RoleDto> {
    return Promise.resolve(accepted(readRole(id)));
  }
}
