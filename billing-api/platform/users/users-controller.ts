import { Controller, Get, Request, Response, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { readUser } from './read-user.js';
import { accepted } from '../../edge/failure.js';
import { callerOf } from '../../edge/request-context.js';
import type { ErrorDto } from '../../records/record-dto.js';
import { userToDto, type UserDto } from './user-dto.js';
import type { ControllerDependencies } from '../../ioc.js';

@Route('v1/users')
@Tags('Users')
@Response<ErrorDto>(401, 'Credentials are missing or unknown')
@Response<ErrorDto>(429, 'Too many requests')
@Response<ErrorDto>(500, 'Unforeseen failure')
@Response<ErrorDto>(503, 'A database does not answer')
export class UsersController extends Controller {
  constructor(private readonly dependencies: ControllerDependencies) {
    super();
  }

  /**
   * The user whose key makes the call, with roles and tenant.
   * @summary Read yourself
   */
  @Get('me')
  public async readMe(@Request() request: HttpRequest): Promise<UserDto> {
    const caller = callerOf(request);
    const user = accepted(await readUser(this.dependencies, caller));
    return userToDto(user, caller.environment.environmentId);
  }
}
