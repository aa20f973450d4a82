import { instant, nullable, oneOf, secretBytes, text, withDefault } from '../../records/columns.js';
import type { DateTime, ListDto, RecordStatusDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';
import type { UserRow } from './user.resource.js';

export const KEYS = defineResource({
  name: 'secret',
  idPrefix: 'secret',
  table: 'secrets',
  columns: {
    user_id: text,
    name: text,
    type: oneOf(['private_key', 'publishable_key']),
    key_hash: secretBytes,
    display_id: text,
    expires_at: nullable(instant),
    /** Written beside the requests, about ten seconds later (sql/key-uses.ts). */
    last_used_at: withDefault(nullable(instant)),
  },
  removal: 'deleted',
});
export type KeyRow = RecordOf<typeof KEYS>;

/** An API key as it can be shown: the key itself is told once, when it is made. */
export interface SecretDto {
  id: string;
  name: string;
  type: 'private_key' | 'publishable_key';
  /** How lists show the key: its first five characters, `***`, and its last two. */
  display_id: string;
  /** Those of its user, as of now. */
  roles: string[];
  user_id: string;
  user_type: 'user' | 'service_account';
  expires_at: DateTime | null;
  /** To about ten seconds. */
  last_used_at: DateTime | null;
  status: RecordStatusDto;
  created_at: DateTime;
  created_by: string | null;
  updated_at: DateTime;
  updated_by: string | null;
}

export interface SecretListDto extends ListDto<SecretDto> {}

export interface CreatedSecretDto {
  secret: SecretDto;
  /** The key itself; only here. */
  api_key: string;
}

/** @example {"name": "Checkout service", "type": "private_key"} */
export interface CreateKeyBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  type: 'private_key' | 'publishable_key';
  /** From this instant on the key is refused. */
  expires_at?: DateTime;
  /** Makes a key of this service account instead of your own. */
  service_account_id?: string;
}

export function keyToDto(row: KeyRow, user: UserRow): SecretDto {
  const { id, name, type, display_id, user_id, ...rest } = recordToDto(KEYS, row);
  const { expires_at, last_used_at, status } = rest;
  const { created_at, created_by, updated_at, updated_by } = rest;
  return {
    id,
    name,
    type,
    display_id,
    roles: user.roles,
    user_id,
    user_type: user.type,
    expires_at,
    last_used_at,
    status,
    created_at,
    created_by,
    updated_at,
    updated_by,
  };
}
