import { assertPresent } from '../../../runtime/failure.js';
import type { OccasionWithRoles } from '../../edge/request-context.js';
import { removeRecord } from '../../records/change-record.js';
import { isEqual } from '../../records/conditions.js';
import { findRecord, findRecords } from '../../records/find-record.js';
import { listRequestFrom, type ListQuery } from '../../records/list-request.js';
import type { OperatorActor, RequestActor } from '../../records/occasion.js';
import { accept, isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import { searchRecords, type Page } from '../../records/search-records.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type WriteDependencies,
} from '../../records/unit.js';
import { USERS } from '../../declarations/platform/user.resource.js';
import {
  KEYS,
  keyToDto,
  type KeyRow,
  type SecretDto,
} from '../../declarations/platform/key.resource.js';

type KeyReader = OccasionWithRoles<RequestActor | OperatorActor>;

/** Whose keys one sees: a super_admin and an operator those of everybody, others their own. */
function seenUser({ actor, roles }: KeyReader): string | undefined {
  return actor.kind === 'operator' || roles.includes('super_admin') ? undefined : actor.userId;
}

/** GET /secrets/api/keys. */
export function listKeys(
  dependencies: ReadDependencies,
  occasion: KeyReader,
  query: ListQuery,
): Promise<Page<SecretDto> | Refusal> {
  const conditions = isEqual('user_id', seenUser(occasion));
  const request = listRequestFrom(query);
  return readUnit(dependencies, occasion, async (unit) => {
    const page = await searchRecords(unit, KEYS, { request, conditions });
    const userIds = page.items.map((row) => row.user_id);
    const users = await findRecords(unit, USERS, userIds);
    const items = page.items.map((row) =>
      keyToDto(row, assertPresent(users.get(row.user_id), 'the user of a key')),
    );
    return { ...page, items };
  });
}

/** DELETE /secrets/api/keys/{id}: revokes the key. */
export async function revokeKey(
  dependencies: WriteDependencies & { readonly forgetCallers: () => void },
  occasion: KeyReader,
  id: string,
): Promise<KeyRow | Refusal> {
  const revoked = await writeUnit(dependencies, occasion, async (unit) => {
    const known = await findRecord(unit, KEYS, id);
    const only = seenUser(occasion);
    const isSeen = known !== null && (only === undefined || only === known.user_id);
    return accept(isSeen ? removeRecord(unit, KEYS, { id, guards: [] }) : notFound(KEYS.name, id));
  });
  if (!isRefusal(revoked)) dependencies.forgetCallers();
  return revoked;
}
