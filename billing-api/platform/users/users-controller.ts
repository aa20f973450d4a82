import {
  Body,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { chosenEnvironmentOf, requestCallerOf } from '../../edge/request-context.js';
import type { MessageDto } from '../../records/record-dto.js';
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

@Route('v1/users')
@Tags('Users')
export class UsersController extends ApiController<
  RightsDependencies & { readonly passwords: Passwords }
> {
  /**
   * The user whose key or token makes the call, with roles and tenant.
   * @summary Read yourself
   */
  @Get('me')
  @Extension('x-operation', { entity: 'self', access: 'read' })
  public async readMe(): Promise<UserDto> {
    return this.answerOf(await this.run(readUser, this.occasion.actor.userId));
  }

  /**
   * What your roles permit, as of now: a page offers what stands here, and nothing else. Operations
   * that need no credentials are left out.
   * @summary List the operations that you may call
   */
  @Get('me/operations')
  @Extension('x-operation', { entity: 'self', access: 'read' })
  public listMyOperations(): Promise<OperationListDto> {
    return Promise.resolve({ items: [...listPermitted(requestCallerOf(this.request))] });
  }

  /** @summary Change yourself */
  @Put('me')
  @Extension('x-operation', { entity: 'self', access: 'write' })
  public async changeMe(@Body() body: ChangeUserBody): Promise<UserDto> {
    return this.answerOf(await this.run(changeUser, { id: this.occasion.actor.userId, body }));
  }

  /**
   * A user gets a password, which only this answer tells; a service account has keys only. Nobody
   * hands out roles that permit more than their own.
   * @summary Create a user or service account
   */
  @Post()
  @Extension('x-operation', { entity: 'user', access: 'write', repeatable: false, taken: true })
  @SuccessResponse(201, 'Created')
  public async createUser(@Body() body: CreateUserBody): Promise<CreatedUserDto> {
    const { user, password } = await this.run(createUser, body);
    return { ...this.answerOf(user), password };
  }

  /** @summary Search users and service accounts */
  @Post('search')
  @Extension('x-operation', { entity: 'user', access: 'read' })
  public async searchUsers(@Body() body: SearchUsersBody): Promise<UserListDto> {
    return pageToDto(await this.run(searchUsers, body), (user) => this.answerOf(user));
  }

  /** @summary Read a user */
  @Get('{id}')
  @Extension('x-operation', { entity: 'user', access: 'read' })
  public async readUser(@Path() id: string): Promise<UserDto> {
    return this.answerOf(await this.run(readUser, id));
  }

  /** @summary Change a user */
  @Put('{id}')
  @Extension('x-operation', { entity: 'user', access: 'write' })
  public async changeUser(@Path() id: string, @Body() body: ChangeUserBody): Promise<UserDto> {
    return this.answerOf(await this.run(changeUser, { id, body }));
  }

  /**
   * They count from the next request of the user's keys and tokens on. A tenant keeps one
   * super_admin.
   * @summary Change the roles of a user
   */
  @Put('{id}/roles')
  @Extension('x-operation', { entity: 'user_role', access: 'write' })
  public async changeUserRoles(
    @Path() id: string,
    @Body() body: ChangeUserRolesBody,
  ): Promise<UserDto> {
    return this.answerOf(await this.run(changeUserRoles, { id, body }));
  }

  /**
   * Archives the user and revokes all keys. Tokens are refused at once.
   * @summary Delete a user
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'user', access: 'write' })
  public async deleteUser(@Path() id: string): Promise<MessageDto> {
    await this.run(deleteUser, id);
    return { message: `user ${id} is deleted` };
  }

  private answerOf({ row, tenant }: UserWithTenant): UserDto {
    return userToDto(row, { tenant, environmentId: chosenEnvironmentOf(this.request) });
  }
}
