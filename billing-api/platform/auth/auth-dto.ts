import { formatInstant } from '../../../contract/instant.js';
import type { IssuedToken } from '../../edge/access/tokens.js';
import type { DateTime } from '../../records/record-dto.js';
import type { TenantDto } from '../../declarations/platform/tenant.js';
import type { UserDto } from '../../declarations/platform/user.resource.js';

/** @example {"email": "kim@example.com", "password": "correct horse", "tenant_name": "Kim Ltd"} */
export interface SignUpBody {
  /** @maxLength 255 */
  email: string;
  /** @minLength 8 @maxLength 256 */
  password: string;
  /** @minLength 1 @maxLength 255 */
  tenant_name: string;
  /** @maxLength 255 */
  name?: string;
}

/** @example {"email": "kim@example.com", "password": "correct horse battery"} */
export interface LogInBody {
  /** @maxLength 255 */
  email: string;
  /** @maxLength 256 */
  password: string;
  /** The environment that requests with the token are for; else each names its own. */
  environment_id?: string;
}

/** @example {"email": "kim@example.com", "password": "right horse", "new_password": "staple 2"} */
export interface ChangePasswordBody {
  /** @maxLength 255 */
  email: string;
  /**
   * The present one.
   * @maxLength 256
   */
  password: string;
  /** @minLength 8 @maxLength 256 */
  new_password: string;
}

/** @example {"email": "kim@example.com", "password": "correct horse"} */
export interface OpenSessionBody {
  /** @maxLength 255 */
  email?: string;
  /** @maxLength 256 */
  password?: string;
  /**
   * In place of both: the one-time code that `npm start` prints.
   * @maxLength 100
   */
  code?: string;
}

/** A session of the console. Its secret is in the cookie, and nowhere else. */
export interface SessionDto {
  expires_at: DateTime;
  user: UserDto;
}

export interface SignedInDto {
  /** For `Authorization: Bearer <token>`. */
  token: string;
  expires_at: DateTime;
  user: UserDto;
}

export interface SignedUpDto extends SignedInDto {
  tenant: TenantDto;
}

export function tokenToDto({ token, expiresAt }: IssuedToken) {
  return { token, expires_at: formatInstant(expiresAt) };
}
