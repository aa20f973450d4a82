import { Controller, Extension, Get, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { readUser } from './read-user.js';
import { accepted } from '../../edge/http-failure.js';
import { callerOf } from '../../edge/request-context.js';
import { userToDto, type UserDto } from './user-dto.js';
import type { ControllerDependencies } from '../../ioc.js';

@Route('v1/users')
@Tags('Users')
export class UsersController extends Controller {
  constructor(private readonly dependencies: ControllerDependencies) {
    super();
  }

  /**
   * The user whose key makes the call, with roles and tenant.
   * @summary Read yourself
   */
  @Get('me')
  @Extension('x-operation', { entity: 'self', access: 'read' })
  public async readMe(@Request() request: HttpRequest): Promise<UserDto> {
    const caller = callerOf(request);
    const user = accepted(await readUser(this.dependencies, caller));
    return userToDto(user, caller.environment.environmentId);
  }
}
