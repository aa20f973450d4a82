import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import {
  occasionOf,
  occasionWithRolesOf,
  chosenEnvironmentOf,
  requestCallerOf,
} from '../../edge/request-context.js';
import type { MessageDto } from '../../records/record-dto.js';
import type { Refusal } from '../../records/refusal.js';
import { pageToDto } from '../../records/search-records.js';
import { createUser } from './create-user.js';
import { listPermitted, type OperationListDto } from './list-permitted.js';
import { changeUser, readUser, searchUsers, type UserWithTenant } from './user-operations.js';
import { changeUserRoles, deleteUser, type RightsDependencies } from './user-rights.js';
import {
  userToDto,
  type ChangeUserBody,
  type ChangeUserRolesBody,
  type CreatedUserDto,
  type CreateUserBody,
  type SearchUsersBody,
  type UserDto,
  type UserListDto,
} from '../../declarations/platform/user.resource.js';
import type { Passwords } from './passwords.js';

function answerOf(request: HttpRequest, user: UserWithTenant | Refusal): UserDto {
  const { row, tenant } = accepted(user);
  return userToDto(row, { tenant, environmentId: chosenEnvironmentOf(request) });
}

@Route('v1/users')
@Tags('Users')
export class UsersController extends Controller {
  constructor(
    private readonly dependencies: RightsDependencies & { readonly passwords: Passwords },
  ) {
    super();
  }

  /**
   * The user whose key or token makes the call, with roles and tenant.
   * @summary Read yourself
   */
  @Get('me')
  @Extension('x-operation', { entity: 'self', access: 'read' })
  public async readMe(@Request() request: HttpRequest): Promise<UserDto> {
    const occasion = occasionOf(request);
    return answerOf(request, await readUser(this.dependencies, occasion, occasion.actor.userId));
  }

  /**
   * What your roles permit, as of now: a page offers what stands here, and nothing else. Operations
   * that need no credentials are left out.
   * @summary List the operations that you may call
   */
  @Get('me/operations')
  @Extension('x-operation', { entity: 'self', access: 'read' })
  public listMyOperations(@Request() request: HttpRequest): Promise<OperationListDto> {
    return Promise.resolve({ items: [...listPermitted(requestCallerOf(request))] });
  }

  /** @summary Change yourself */
  @Put('me')
  @Extension('x-operation', { entity: 'self', access: 'write' })
  public async changeMe(
    @Request() request: HttpRequest,
    @Body() body: ChangeUserBody,
  ): Promise<UserDto> {
    const occasion = occasionOf(request);
    const target = { id: occasion.actor.userId, body };
    return answerOf(request, await changeUser(this.dependencies, occasion, target));
  }

  /**
   * A user gets a password, which only this answer tells; a service account has keys only. Nobody
   * hands out roles that permit more than their own.
   * @summary Create a user or service account
   */
  @Post()
  @Extension('x-operation', { entity: 'user', access: 'write', repeatable: false, taken: true })
  @SuccessResponse(201, 'Created')
  public async createUser(
    @Request() request: HttpRequest,
    @Body() body: CreateUserBody,
  ): Promise<CreatedUserDto> {
    const occasion = occasionWithRolesOf(request);
    const { user, password } = accepted(await createUser(this.dependencies, occasion, body));
    this.setStatus(201);
    return { ...answerOf(request, user), password };
  }

  /** @summary Search users and service accounts */
  @Post('search')
  @Extension('x-operation', { entity: 'user', access: 'read' })
  public async searchUsers(
    @Request() request: HttpRequest,
    @Body() body: SearchUsersBody,
  ): Promise<UserListDto> {
    const page = accepted(await searchUsers(this.dependencies, occasionOf(request), body));
    return pageToDto(page, (user) => answerOf(request, user));
  }

  /** @summary Read a user */
  @Get('{id}')
  @Extension('x-operation', { entity: 'user', access: 'read' })
  public async readUser(@Request() request: HttpRequest, @Path() id: string): Promise<UserDto> {
    return answerOf(request, await readUser(this.dependencies, occasionOf(request), id));
  }

  /** @summary Change a user */
  @Put('{id}')
  @Extension('x-operation', { entity: 'user', access: 'write' })
  public async changeUser(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeUserBody,
  ): Promise<UserDto> {
    const target = { id, body };
    return answerOf(request, await changeUser(this.dependencies, occasionOf(request), target));
  }

  /**
   * They count from the next request of the user's keys and tokens on. A tenant keeps one
   * super_admin.
   * @summary Change the roles of a user
   */
  @Put('{id}/roles')
  @Extension('x-operation', { entity: 'user_role', access: 'write' })
  public async changeUserRoles(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeUserRolesBody,
  ): Promise<UserDto> {
    const occasion = occasionWithRolesOf(request);
    return answerOf(request, await changeUserRoles(this.dependencies, occasion, { id, body }));
  }

  /**
   * Archives the user and revokes all keys. Tokens are refused at once.
   * @summary Delete a user
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'user', access: 'write' })
  public async deleteUser(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<MessageDto> {
    accepted(await deleteUser(this.dependencies, occasionWithRolesOf(request), id));
    return { message: `user ${id} is deleted` };
  }
}
