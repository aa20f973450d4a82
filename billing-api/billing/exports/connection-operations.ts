import { sql } from 'slonik';
import {
  CONNECTIONS,
  type ChangeConnectionBody,
  type ConnectionRow,
  type ConnectionSecretsBody,
  type CreateConnectionBody,
} from '../../declarations/exports/connection.resource.js';
import {
  changeRecord,
  notReferenced,
  removeRecord,
  type ChangeTarget,
} from '../../records/change-record.js';
import { createRecord } from '../../records/create-record.js';
import { readRecord } from '../../records/find-record.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import { searchRecords, type Page } from '../../records/search-records.js';
import type { SearchBodyRequest } from '../../records/search-request.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type WriteDependencies,
} from '../../records/unit.js';
import type { SecretBox } from '../../../runtime/secret-box.js';

/** What operations on connections need: without a key there is no box. */
export type ConnectionDependencies = WriteDependencies & { readonly secretBox: SecretBox | null };

/** Seals the secrets of a request; refused where nothing could keep them. */
async function sealed(
  { secretBox }: ConnectionDependencies,
  secrets: ConnectionSecretsBody,
): Promise<Buffer | Refusal> {
  if (secretBox !== null) return secretBox.seal(JSON.stringify(secrets));
  const problem = 'no key is configured to keep secrets with: set MINUTEBOOK_SECRETS_KEY';
  return new Refusal('invalid_operation', problem);
}

/** POST /connections. */
export async function createConnection(
  dependencies: ConnectionDependencies,
  occasion: Occasion,
  { name, provider_type, secrets, metadata }: CreateConnectionBody,
): Promise<ConnectionRow | Refusal> {
  const reader = new MemberReader();
  const members = { name, provider_type, metadata: reader.metadata(metadata) };
  const kept = await sealed(dependencies, secrets);
  const problems = reader.refusal();
  if (problems !== null) return problems;
  if (isRefusal(kept)) return kept;
  return writeUnit(dependencies, occasion, (unit) =>
    createRecord(unit, CONNECTIONS, { ...members, secrets: kept }),
  );
}

/** GET /connections. */
export function listConnections(
  dependencies: ReadDependencies,
  occasion: Occasion,
  request: SearchBodyRequest,
): Promise<Page<ConnectionRow> | Refusal> {
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, CONNECTIONS, { request, conditions: [] }),
  );
}

/** GET /connections/{id}. */
export function readConnection(
  dependencies: ReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<ConnectionRow | Refusal> {
  return readUnit(dependencies, occasion, (unit) => readRecord(unit, CONNECTIONS, id));
}

/** PUT /connections/{id}. */
export async function changeConnection(
  dependencies: ConnectionDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeConnectionBody },
): Promise<ConnectionRow | Refusal> {
  const reader = new MemberReader();
  const { secrets } = body;
  const kept = secrets === undefined ? undefined : await sealed(dependencies, secrets);
  if (isRefusal(kept)) return kept;
  const patch = givenOf({
    name: body.name,
    secrets: kept,
    metadata: reader.changedMetadata(body.metadata),
  });
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, (unit) =>
    changeRecord(unit, CONNECTIONS, { target, change: () => patch }),
  );
}

const notUsed = notReferenced(
  {
    ...{ table: 'scheduled_tasks', column: 'connection_id' },
    having: [sql.fragment`status = 'published'`],
  },
  'has scheduled tasks',
);

/** DELETE /connections/{id}: none that a task needs. */
export function removeConnection(
  dependencies: WriteDependencies,
  occasion: Occasion,
  id: string,
): Promise<ConnectionRow | Refusal> {
  return writeUnit(dependencies, occasion, (unit) =>
    removeRecord(unit, CONNECTIONS, { id, guards: [notUsed] }),
  );
}
