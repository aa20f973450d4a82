import { DatabaseError } from 'pg';
import { sql, type FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { allOf, isEqual, isOfEnvironment } from './conditions.js';
import { assertPresent, assertThat } from '../../runtime/failure.js';
import { noRows } from '../../sql/columns.js';
import { recordStatus, type Columns } from './columns.js';
import {
  accept,
  alreadyExists,
  collect,
  invalid,
  NOT_PUBLISHED,
  notFound,
  ofItem,
  type Refusal,
  Refused,
  type RequestItems,
} from './refusal.js';
import { recordChange } from './recorded-change.js';
import { authorOf } from './occasion.js';
import {
  rowToJson,
  type NewRecord,
  type ReferencedResource,
  type Resource,
  type RowOf,
} from './resource.js';
import type { Unit } from './unit.js';

type Values = Readonly<Record<string, unknown>>;

/** SQLSTATE of a row that a unique index refuses. */
const UNIQUE_VIOLATION = '23505';

/**
 * What a violated unique index means to the caller: the 409 that names the member. The transaction
 * is aborted by it, so nothing catches this refusal within the unit.
 * @throws the error itself when the resource does not declare the index.
 */
export function uniqueRefusal(
  resource: Pick<Resource, 'name' | 'unique'>,
  error: unknown,
): Refusal {
  if (!(error instanceof DatabaseError) || error.code !== UNIQUE_VIOLATION) throw error;
  const member = resource.unique[error.constraint ?? ''];
  if (member === undefined) throw error;
  return alreadyExists(resource.name, member);
}

/** All columns of a new row: those of the caller and those that every record has. */
function completeRow(
  unit: Unit,
  resource: Pick<Resource, 'idPrefix' | 'scope'>,
  values: Values,
): Values {
  const { actor, now } = unit;
  const { tenantId, environmentId } = unit.environment;
  const author = authorOf(actor);
  return {
    id: unit.newId(resource.idPrefix),
    metadata: {},
    ...values,
    tenant_id: tenantId,
    ...(resource.scope === 'tenant' ? {} : { environment_id: environmentId }),
    status: 'published',
    created_at: now,
    created_by: author,
    updated_at: now,
    updated_by: author,
  };
}

/** Columns that no row names keep the DEFAULT of the table. */
async function insertRows<C extends Columns>(
  { tx }: Unit,
  resource: Resource<C>,
  insert: { readonly rows: readonly Values[]; readonly onConflict: FragmentSqlToken },
): Promise<readonly RowOf<C>[]> {
  const rows = insert.rows.map((row) => rowToJson(resource, row));
  const names = Object.keys(rows[0] ?? {});
  // A value of a column that the first row does not name would be lost without a word.
  const columnsOf = (row: Values): string => Object.keys(row).sort().join();
  const isUniform = rows.every((row) => columnsOf(row) === names.toSorted().join());
  assertThat(isUniform, `rows of ${resource.table} that name different columns`);
  const table = sql.identifier([resource.table]);
  const columns = sql.join(
    names.map((name) => sql.identifier([name])),
    sql.fragment`, `,
  );
  return tx.any(sql.type(resource.row)`
    INSERT INTO ${table} (${columns})
    SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, ${JSON.stringify(rows)}::jsonb)
    ${insert.onConflict}
    RETURNING *`);
}

const FAIL = sql.fragment``;
const SKIP = sql.fragment`ON CONFLICT DO NOTHING`;

async function insertOne<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  row: Values,
): Promise<RowOf<C>> {
  try {
    const [stored] = await insertRows(unit, resource, { rows: [row], onConflict: FAIL });
    return assertPresent(stored, `the new ${resource.name}`);
  } catch (error) {
    throw new Refused(uniqueRefusal(resource, error));
  }
}

/** Rows that were left out are inserted once more, alone: the error tells which index is broken. */
async function insertMany<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  { items: rows, isBulk }: RequestItems<Values>,
): Promise<readonly RowOf<C>[]> {
  const stored = await insertRows(unit, resource, { rows, onConflict: SKIP });
  const byId = new Map<unknown, RowOf<C>>(stored.map((row) => [row.id, row]));
  const results: RowOf<C>[] = [];
  for (const [index, row] of rows.entries()) {
    const insert = () => insertOne(unit, resource, row);
    results.push(byId.get(row['id']) ?? (await ofItem({ index, isBulk }, insert)));
  }
  return results;
}

const referenceRow = z.object({ id: z.string(), status: recordStatus, has_state: z.boolean() });
type ReferenceRow = z.output<typeof referenceRow>;

/** The records that rows refer to; held, so that nobody can archive them before the unit ends. */
async function holdReferences(
  { tx }: Unit,
  { table, having }: ReferencedResource,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ReferenceRow>> {
  if (ids.length === 0) return new Map();
  const hasState = allOf(having === undefined ? [] : isEqual(having.column, having.is));
  const found = await tx.any(sql.type(referenceRow)`
    SELECT id, status, ${hasState} AS has_state FROM ${sql.identifier([table])}
    WHERE id = ANY (${sql.array([...new Set(ids)], 'text')}) AND ${isOfEnvironment}
    ORDER BY id FOR KEY SHARE`);
  return new Map(found.map((row) => [row.id, row]));
}

/** Why a row cannot refer to what it names; null when it can. */
function problemOfReference(
  { name, having }: ReferencedResource,
  { status, has_state: hasState }: ReferenceRow,
): string | null {
  if (status !== 'published') return NOT_PUBLISHED;
  if (hasState || having === undefined) return null;
  return `must name a ${name} whose ${having.column} is ${having.is}`;
}

/** Every record that the values refer to must exist and be published. */
export async function refuseUnknownReferences(
  unit: Unit,
  resource: Pick<Resource, 'references'>,
  values: RequestItems<Values>,
): Promise<void> {
  for (const [column, target] of Object.entries(resource.references)) {
    if (target === undefined) continue;
    const idOf = (row: Values): string | null => {
      const id = row[column] ?? null;
      return typeof id === 'string' ? id : null;
    };
    const ids = values.items.flatMap((row) => idOf(row) ?? []);
    const found = await holdReferences(unit, target, ids);
    accept(
      collect(values, (row): null | Refusal => {
        const id = idOf(row);
        if (id === null) return null;
        const named = found.get(id);
        if (named === undefined) return notFound(target.name, id);
        const problem = problemOfReference(target, named);
        return problem === null ? null : invalid({ [column]: problem });
      }),
    );
  }
}

/**
 * Stores the records of a request, all or none, and answers them in its order. Ids are in that
 * order too. Refuses a unique member that is taken (409), and an unknown reference (404).
 */
export async function createRecords<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  request: RequestItems<NewRecord<C>>,
): Promise<readonly RowOf<C>[]> {
  if (request.items.length === 0) return [];
  const values: RequestItems<Values> = request;
  await refuseUnknownReferences(unit, resource, values);
  const ids = values.items.map(() => unit.newId(resource.idPrefix)).sort();
  const rows = values.items.map((item, index) =>
    completeRow(unit, resource, { id: assertPresent(ids[index], 'an id for every row'), ...item }),
  );
  const [only, ...others] = rows;
  const stored =
    only !== undefined && others.length === 0
      ? [await ofItem({ index: 0, isBulk: request.isBulk }, () => insertOne(unit, resource, only))]
      : await insertMany(unit, resource, { items: rows, isBulk: request.isBulk });
  for (const after of stored) recordChange(unit, resource, { before: null, after });
  return stored;
}

/** Stores one record. */
export async function createRecord<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  values: NewRecord<C>,
): Promise<RowOf<C>> {
  const stored = await createRecords(unit, resource, { items: [values], isBulk: false });
  return assertPresent(stored[0], `the new ${resource.name}`);
}

/** A part of a record that is not audited by itself, with the id that it gets. */
export type NewPart<C extends Columns> = NewRecord<C> & { readonly id: string };

/**
 * Stores parts of records that are audited as a whole, such as the lines of invoices, in one
 * statement for all. They name only records that their whole holds.
 * @throws for a resource that is audited, or that declares references.
 */
export async function insertParts<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  parts: readonly NewPart<C>[],
): Promise<void> {
  assertThat(!resource.isAudited, `${resource.table} holds parts of records`);
  assertThat(Object.keys(resource.references).length === 0, `${resource.table} refers to nothing`);
  if (parts.length === 0) return;
  const values: readonly Values[] = parts;
  const rows = values.map((part) => rowToJson(resource, completeRow(unit, resource, part)));
  const table = sql.identifier([resource.table]);
  await unit.tx.query(sql.type(noRows)`
    INSERT INTO ${table}
    SELECT * FROM jsonb_populate_recordset(NULL::${table}, ${JSON.stringify(rows)}::jsonb)`);
}
