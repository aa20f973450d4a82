import { sql, type FragmentSqlToken } from 'slonik';
import type { Columns } from './columns.js';
import { allOf, isOfScope, isPublished, type Conditions } from './conditions.js';
import { accept, notFound, notPublished, Refused } from './refusal.js';
import type { ColumnName, Resource, RowOf } from './resource.js';
import type { StatementUnit } from './unit.js';

const NO_LOCK = sql.fragment``;
/** Nobody else changes the row; other tables may still refer to it. */
const FOR_CHANGE = sql.fragment`FOR NO KEY UPDATE`;
/** Nobody else changes the row, and nobody can begin to refer to it. */
const FOR_REMOVAL = sql.fragment`FOR UPDATE`;
/** The row stays as it is; others may hold it too. */
const FOR_HOLD = sql.fragment`FOR SHARE`;

function select<C extends Columns>(
  { tx }: StatementUnit,
  resource: Resource<C>,
  { where, lock }: { readonly where: FragmentSqlToken; readonly lock: FragmentSqlToken },
): Promise<readonly RowOf<C>[]> {
  return tx.any(sql.type(resource.row)`
    SELECT ${resource.selected} FROM ${sql.identifier([resource.table])}
    WHERE ${where} AND ${isOfScope(resource)} ORDER BY id ${lock}`);
}

async function selectOne<C extends Columns>(
  unit: StatementUnit,
  resource: Resource<C>,
  query: { readonly where: FragmentSqlToken; readonly lock: FragmentSqlToken },
): Promise<RowOf<C> | null> {
  return (await select(unit, resource, query))[0] ?? null;
}

async function selectMany<C extends Columns>(
  unit: StatementUnit,
  resource: Resource<C>,
  query: { readonly ids: readonly string[]; readonly lock: FragmentSqlToken },
): Promise<ReadonlyMap<string, RowOf<C>>> {
  const { ids, lock } = query;
  if (ids.length === 0) return new Map();
  const where = sql.fragment`id = ANY (${sql.array([...new Set(ids)], 'text')})`;
  return new Map((await select(unit, resource, { where, lock })).map((row) => [row.id, row]));
}

const hasId = (id: string) => sql.fragment`id = ${id}`;

/** The record with this id, whatever its status. */
export function findRecord<C extends Columns>(
  unit: StatementUnit,
  resource: Resource<C>,
  id: string,
): Promise<RowOf<C> | null> {
  return selectOne(unit, resource, { where: hasId(id), lock: NO_LOCK });
}

/** The records with these ids, whatever their status; unknown ids are left out. */
export function findRecords<C extends Columns>(
  unit: StatementUnit,
  resource: Resource<C>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RowOf<C>>> {
  return selectMany(unit, resource, { ids, lock: NO_LOCK });
}

/** The published records that meet the conditions, oldest first. */
export async function findPublished<C extends Columns>(
  { tx }: StatementUnit,
  resource: Resource<C>,
  conditions: Conditions<ColumnName<C>>,
): Promise<readonly RowOf<C>[]> {
  return tx.any(sql.type(resource.row)`
    SELECT ${resource.selected} FROM ${sql.identifier([resource.table])}
    WHERE ${allOf([...isPublished, ...conditions])} AND ${isOfScope(resource)}
    ORDER BY created_at, id`);
}

/** The record with this id, whatever its status; otherwise the 404 that names it. */
export async function readRecord<C extends Columns>(
  unit: StatementUnit,
  resource: Resource<C>,
  id: string,
): Promise<RowOf<C>> {
  return accept((await findRecord(unit, resource, id)) ?? notFound(resource.name, id));
}

/** As `findRecord`; until the unit ends nobody else changes the record. */
export function lockRecord<C extends Columns>(
  unit: StatementUnit,
  resource: Resource<C>,
  id: string,
): Promise<RowOf<C> | null> {
  return selectOne(unit, resource, { where: hasId(id), lock: FOR_CHANGE });
}

/** As `lockRecord`; and nobody can begin to refer to the record. */
export function lockRecordForRemoval<C extends Columns>(
  unit: StatementUnit,
  resource: Resource<C>,
  id: string,
): Promise<RowOf<C> | null> {
  return selectOne(unit, resource, { where: hasId(id), lock: FOR_REMOVAL });
}

/**
 * The records with these ids, whatever their status, locked as by `lockRecordForRemoval` in the
 * order of their ids: two bulk requests never wait for each other.
 */
export function lockRecords<C extends Columns>(
  unit: StatementUnit,
  resource: Resource<C>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RowOf<C>>> {
  return selectMany(unit, resource, { ids, lock: FOR_REMOVAL });
}

/**
 * The records with these ids, whatever their status, in the order of their ids; until the unit ends
 * nobody else changes them.
 */
export function lockRecordsForChange<C extends Columns>(
  unit: StatementUnit,
  resource: Resource<C>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RowOf<C>>> {
  return selectMany(unit, resource, { ids, lock: FOR_CHANGE });
}

/** As `findRecords`; the records stay as they are until the unit ends, others may hold them too. */
export function holdRecords<C extends Columns>(
  unit: StatementUnit,
  resource: Resource<C>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RowOf<C>>> {
  return selectMany(unit, resource, { ids, lock: FOR_HOLD });
}

/** The published record with this id, held; or why it cannot be used: 404, or 400 when archived. */
export async function holdPublished<C extends Columns>(
  unit: StatementUnit,
  resource: Resource<C>,
  id: string,
): Promise<RowOf<C>> {
  const row = (await holdRecords(unit, resource, [id])).get(id);
  if (row === undefined) throw new Refused(notFound(resource.name, id));
  return accept(row.status === 'published' ? row : notPublished(resource.name, row.status));
}
