import { sql } from 'slonik';
import { z } from 'zod';
import { assertPresent } from '../../runtime/failure.js';
import { problemOfChange } from '../domain/lifecycle/lifecycle.js';
import { allOf, isOfEnvironment, isOfScope, type Conditions } from './conditions.js';
import type { Columns } from './columns.js';
import { refuseUnknownReferences, uniqueRefusal } from './create-record.js';
import { lockRecord, lockRecordForRemoval } from './find-record.js';
import { authorOf } from './occasion.js';
import { recordChange } from './recorded-change.js';
import { accept, notFound, notPublished, Refusal, Refused } from './refusal.js';
import { rowToJson, stateIn, type Patch, type Resource, type RowOf } from './resource.js';
import type { Unit } from './unit.js';

/** Which record a change means, and which versions of it the caller has seen (If-Match). */
export type ChangeTarget = {
  readonly id: string;
  /** Absent: any version. */
  readonly isExpected?: ((version: number) => boolean) | undefined;
};

type Values = Readonly<Record<string, unknown>>;

/** The column that every change raises; null when the resource has none. */
function raisedColumn({ allColumns }: Pick<Resource, 'allColumns'>): string | null {
  const raised = Object.entries(allColumns).find(([, column]) => 'isRaisedByChange' in column);
  return raised?.[0] ?? null;
}

/** The version that If-Match compares; null for a resource without one. */
export function versionOf(resource: Pick<Resource, 'allColumns'>, row: Values): number | null {
  const version = row[raisedColumn(resource) ?? ''];
  return typeof version === 'number' ? version : null;
}

/** One more than before, if the resource has a version. */
export function nextVersion(resource: Pick<Resource, 'allColumns'>, row: Values): Values {
  const name = raisedColumn(resource);
  const version = versionOf(resource, row);
  return name === null || version === null ? {} : { [name]: version + 1 };
}

/** Writes these columns of a locked record, which nothing else notes. */
export async function writeRow<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  { row, patch }: { readonly row: RowOf<C>; readonly patch: Patch<C> | { status: string } },
): Promise<RowOf<C>> {
  const values = rowToJson(resource, {
    ...patch,
    ...nextVersion(resource, row),
    updated_at: unit.now,
    updated_by: authorOf(unit.actor),
  });
  const table = sql.identifier([resource.table]);
  const names = sql.join(
    Object.keys(values).map((name) => sql.identifier([name])),
    sql.fragment`, `,
  );
  try {
    return await unit.tx.one(sql.type(resource.row)`
      UPDATE ${table} SET (${names}) = (
        SELECT ${names} FROM jsonb_populate_record(NULL::${table}, ${JSON.stringify(values)}::jsonb))
      WHERE id = ${row.id} AND ${isOfScope(resource)}
      RETURNING *`);
  } catch (error) {
    throw new Refused(uniqueRefusal(resource, error));
  }
}

/** Writes these columns of a locked record. @throws when the caller has not locked it. */
export async function updateRecord<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  change: { readonly row: RowOf<C>; readonly patch: Patch<C> | { status: string } },
): Promise<RowOf<C>> {
  const after = await writeRow(unit, resource, change);
  recordChange(unit, resource, { before: change.row, after });
  return after;
}

/** Why a change cannot be made to a locked record: another version than expected, or removed. */
export function targetRefusal(
  resource: Pick<Resource, 'name' | 'allColumns'>,
  row: RowOf<Columns>,
  target: ChangeTarget,
): Refusal | null {
  const version = versionOf(resource, row);
  if (version !== null && target.isExpected?.(version) === false) {
    return new Refusal(
      'version_conflict',
      `the ${resource.name} has version ${version}; read it again and repeat the change`,
    );
  }
  return row.status === 'published' ? null : notPublished(resource.name, row.status);
}

/**
 * Locks a record that is about to be changed. Refuses an unknown one (404), another version than
 * the caller has seen (409), and one that is archived or deleted (400).
 */
export async function lockForChange<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  target: ChangeTarget,
): Promise<RowOf<C>> {
  const row = await lockRecord(unit, resource, target.id);
  if (row === null) throw new Refused(notFound(resource.name, target.id));
  return accept(targetRefusal(resource, row, target) ?? row);
}

/** Why the state of a record does not let these columns change; null when it does. */
function frozenRefusal<C extends Columns>(
  { lifecycle }: Resource<C>,
  row: Values,
  patch: Patch<C>,
): Refusal | null {
  if (lifecycle === null) return null;
  const problem = problemOfChange(lifecycle.of, stateIn(lifecycle, row), Object.keys(patch));
  return problem === null ? null : new Refusal('invalid_operation', problem);
}

/**
 * Changes one record as PUT does: `change` sees the locked row and answers what to write, where
 * absent members stay as they are and null clears one, or why not. Refuses what `lockForChange`
 * does, what the state of the record does not let change, and references to records that are not
 * there.
 */
export async function changeRecord<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  {
    target,
    change,
  }: {
    readonly target: ChangeTarget;
    readonly change: (row: RowOf<C>) => Patch<C> | Refusal | Promise<Patch<C> | Refusal>;
  },
): Promise<RowOf<C>> {
  const row = await lockForChange(unit, resource, target);
  const patch = accept(await change(row));
  accept(frozenRefusal(resource, row, patch));
  await refuseUnknownReferences(unit, resource, { items: [patch], isBulk: false });
  return updateRecord(unit, resource, { row, patch });
}

/** What still needs a record, as the end of `the meter `: `has a price that has not ended`. */
export type Guard = (unit: Unit, id: string) => Promise<string | null>;

/** Rows that name a record in one of their columns. */
type Referrers = {
  readonly table: string;
  readonly column: string;
  /** Only rows that meet these; all when absent. */
  readonly having?: Conditions<string>;
};

/** A guard: none of these rows may name the record. */
export function notReferenced(by: Referrers, problem: string): Guard {
  const { having = [] } = by;
  return async ({ tx }, id) => {
    const names = sql.fragment`${sql.identifier([by.column])} = ${id}`;
    const found = await tx.exists(sql.type(z.unknown())`
      SELECT FROM ${sql.identifier([by.table])}
      WHERE ${allOf([names, ...having])} AND ${isOfEnvironment}`);
    return found ? problem : null;
  };
}

/**
 * DELETE of a record: gives it the status that the resource declares, unless a guard names what
 * still refers to it. Until the unit ends nobody can begin to refer to it.
 */
export async function removeRecord<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  { id, guards }: { readonly id: string; readonly guards: readonly Guard[] },
): Promise<RowOf<C>> {
  const row = await lockRecordForRemoval(unit, resource, id);
  if (row === null) throw new Refused(notFound(resource.name, id));
  if (row.status !== 'published') throw new Refused(notPublished(resource.name, row.status));
  for (const guard of guards) {
    const problem = await guard(unit, id);
    if (problem !== null) {
      throw new Refused(new Refusal('invalid_operation', `the ${resource.name} ${problem}`));
    }
  }
  return markRemoved(unit, resource, row);
}

/** Gives a locked record the status that DELETE gives. @throws when its resource has no removal. */
export function markRemoved<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  row: RowOf<C>,
): Promise<RowOf<C>> {
  const status = assertPresent(resource.removal, `how a ${resource.name} is removed`);
  return updateRecord(unit, resource, { row, patch: { status } });
}
