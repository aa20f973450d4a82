import { createApiKey, displayIdOf, hashApiKey } from '../../../sql/api-key.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { OccasionWithRoles } from '../../edge/request-context.js';
import { createRecord } from '../../records/create-record.js';
import { holdPublished } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { accept, Refusal, Refused } from '../../records/refusal.js';
import { ownUserOf, type OperatorActor, type RequestActor } from '../../records/occasion.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { ABOVE_OWN, coverRoles } from '../roles/roles.js';
import { USERS, type UserRow } from '../../declarations/platform/user.resource.js';
import { KEYS, type CreateKeyBody, type KeyRow } from '../../declarations/platform/key.resource.js';

const OTHER_PRINCIPAL = new Refusal(
  'permission_denied',
  'a key can be made for yourself or for a service account, not for another user',
);

/** Who makes keys: for oneself or for a service account, and an operator for a super_admin too. */
type KeyMaker = OccasionWithRoles<RequestActor | OperatorActor>;

/** Whose the key will be; held, so that the user cannot be deleted before the key is there. */
async function holdOwner(
  unit: Unit,
  { actor, roles }: KeyMaker,
  { service_account_id: accountId }: CreateKeyBody,
): Promise<UserRow> {
  const ownId = ownUserOf(actor);
  const ownerId = assertPresent(accountId ?? ownId, 'the user of a key');
  const owner = await holdPublished(unit, USERS, ownerId);
  if (owner.id === ownId) return owner;
  const isOfOperator = actor.kind === 'operator' && owner.roles.includes('super_admin');
  if (owner.type !== 'service_account' && !isOfOperator) throw new Refused(OTHER_PRINCIPAL);
  return accept(coverRoles(roles, owner.roles) ? owner : ABOVE_OWN);
}

/** A key that was just made: the record, its user, and the key itself, which is not stored. */
type CreatedKey = { readonly row: KeyRow; readonly user: UserRow; readonly apiKey: string };

type NewKey = Pick<KeyRow, 'name' | 'type' | 'expires_at'> & {
  readonly user: UserRow;
  readonly apiKey: string;
};

/** Stores what is needed to recognise a key. */
export async function storeKey(unit: Unit, { user, apiKey, ...key }: NewKey): Promise<CreatedKey> {
  const secret = { key_hash: hashApiKey(apiKey), display_id: displayIdOf(apiKey) };
  const row = await createRecord(unit, KEYS, { ...secret, ...key, user_id: user.id });
  return { row, user, apiKey };
}

/** POST /secrets/api/keys. */
export async function createKey(
  dependencies: WriteDependencies,
  occasion: KeyMaker,
  body: CreateKeyBody,
): Promise<CreatedKey | Refusal> {
  const reader = new MemberReader();
  const name = reader.name('name', body.name);
  const expiresAt = reader.instant('expires_at', body.expires_at);
  if (expiresAt !== null && expiresAt <= dependencies.clock.now()) {
    reader.note('expires_at', 'must lie in the future');
  }
  const problems = reader.refusal();
  if (problems !== null) return problems;
  const { type } = body;
  const apiKey = createApiKey(type);
  return writeUnit(dependencies, occasion, async (unit) => {
    const user = await holdOwner(unit, occasion, body);
    return storeKey(unit, { user, apiKey, name, type, expires_at: expiresAt });
  });
}
