import { z } from 'zod';
import type { RoleId, UserType } from '../../../contract/roles.js';
import { json, nullable, oneOf, text } from '../../records/columns.js';
import type {
  DateTime,
  MetadataDto,
  ListDto,
  RecordStatusDto,
  SearchBody,
} from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';
import { tenantToDto, type TenantDto } from './tenant.js';
import type { TenantRow } from './tenant.js';

export const USERS = defineResource({
  name: 'user',
  idPrefix: 'user',
  table: 'users',
  scope: 'tenant',
  columns: {
    name: nullable(text),
    /** In lower case. */
    email: nullable(text),
    type: oneOf(['user', 'service_account']),
    roles: json(z.array(z.string())),
  },
  unique: { users_email: 'email' },
  removal: 'archived',
});
export type UserRow = RecordOf<typeof USERS>;

/** Somebody who may call the API: a person, or a service account that has keys only. */
export interface UserDto {
  id: string;
  tenant_id: string;
  /** The environment of the request; null when it names none. */
  environment_id: string | null;
  name: string | null;
  email: string | null;
  type: 'user' | 'service_account';
  roles: string[];
  tenant: TenantDto;
  status: RecordStatusDto;
  metadata: MetadataDto;
  created_at: DateTime;
  created_by: string | null;
  updated_at: DateTime;
  updated_by: string | null;
}

export interface CreatedUserDto extends UserDto {
  /** What the user signs in with; only here, and null for a service account. */
  password: string | null;
}

export interface UserListDto extends ListDto<UserDto> {}

/** @example {"type": "user", "email": "kim@example.com", "name": "Kim", "roles": ["all_reader"]} */
export interface CreateUserBody {
  type: UserType;
  /**
   * Required for a user; a service account has none.
   * @maxLength 255
   */
  email?: string;
  /** @maxLength 255 */
  name?: string;
  /** @maxItems 5 */
  roles?: RoleId[];
}

/** @example {"name": "Kim Weber"} */
export interface ChangeUserBody {
  /** @maxLength 255 */
  name?: string | null;
  metadata?: MetadataDto | null;
}

/** @example {"roles": ["all_writer"]} */
export interface ChangeUserRolesBody {
  /** @maxItems 5 */
  roles: RoleId[];
}

export interface SearchUsersBody extends SearchBody {
  /** @maxItems 1000 */
  user_ids?: string[];
  type?: UserType;
  /** Upper and lower case are the same. */
  email?: string;
}

/** A user as it is answered to a request in this environment. */
export function userToDto(
  row: UserRow,
  answer: { readonly tenant: TenantRow; readonly environmentId: string | null },
): UserDto {
  const { id, tenant_id, name, email, type, roles, ...rest } = recordToDto(USERS, row);
  const { status, metadata, created_at, created_by, updated_at, updated_by } = rest;
  return {
    id,
    tenant_id,
    environment_id: answer.environmentId,
    name,
    email,
    type,
    roles,
    tenant: tenantToDto(answer.tenant),
    status,
    metadata,
    created_at,
    created_by,
    updated_at,
    updated_by,
  };
}
