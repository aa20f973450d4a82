import type { Occasion } from '../../records/occasion.js';
import { changeRecord } from '../../records/change-record.js';
import { createRecord } from '../../records/create-record.js';
import { readRecord } from '../../records/find-record.js';
import { listRequestFrom, type ListQuery } from '../../records/list-request.js';
import { MemberReader } from '../../records/member-rules.js';
import { Refusal } from '../../records/refusal.js';
import { searchRecords } from '../../records/search-records.js';
import { readOperation } from '../../records/operation.js';
import { writeUnit, type WriteDependencies } from '../../records/unit.js';
import {
  ENVIRONMENTS,
  type ChangeEnvironmentBody,
  type CreateEnvironmentBody,
  type EnvironmentRow,
} from '../../declarations/platform/environment.resource.js';
import { refuseBeyondLimit } from './environments-store.js';

function readName({ name }: ChangeEnvironmentBody): string | Refusal {
  const reader = new MemberReader();
  const read = reader.name('name', name);
  return reader.refusal() ?? read;
}

/** GET /environments. */
export const listEnvironments = readOperation((unit, query: ListQuery) =>
  searchRecords(unit, ENVIRONMENTS, { request: listRequestFrom(query), conditions: [] }),
);

/** GET /environments/{id}. */
export const readEnvironment = readOperation((unit, id: string) =>
  readRecord(unit, ENVIRONMENTS, id),
);

/** POST /environments. */
export async function createEnvironment(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateEnvironmentBody,
): Promise<EnvironmentRow | Refusal> {
  const name = readName(body);
  if (name instanceof Refusal) return name;
  const { type } = body;
  return writeUnit(dependencies, occasion, async (unit) => {
    await refuseBeyondLimit(unit, type);
    return createRecord(unit, ENVIRONMENTS, { name, type });
  });
}

/** PUT /environments/{id}. */
export async function changeEnvironment(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { id, body }: { readonly id: string; readonly body: ChangeEnvironmentBody },
): Promise<EnvironmentRow | Refusal> {
  const name = readName(body);
  if (name instanceof Refusal) return name;
  return writeUnit(dependencies, occasion, (unit) =>
    changeRecord(unit, ENVIRONMENTS, { target: { id }, change: () => ({ name }) }),
  );
}
