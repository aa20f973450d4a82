import { Extension, Get, Path, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { accepted } from '../../edge/http-failure.js';
import { listRoles, readRole, type RoleDto, type RolesDto } from './read-roles.js';

@Route('v1/rbac/roles')
@Tags('Roles')
export class RolesController extends ApiController {
  /**
   * They are the same for everybody.
   * @summary List roles with what they permit
   */
  @Get()
  @Extension('x-operation', { entity: 'role', access: 'read' })
  public listRoles(): Promise<RolesDto> {
    return Promise.resolve({ items: [...listRoles()] });
  }

  /** @summary Read a role with what it permits */
  @Get('{id}')
  @Extension('x-operation', { entity: 'role', access: 'read' })
  public readRole(@Path() id: string): Promise<RoleDto> {
    return Promise.resolve(accepted(readRole(id)));
  }
}
