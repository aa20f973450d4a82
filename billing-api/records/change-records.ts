import { sql } from 'slonik';
import { assertThat, mustGet } from '../../runtime/failure.js';
import { problemOfMove, type Lifecycle } from '../domain/lifecycle/lifecycle.js';
import { nextVersion } from './change-record.js';
import type { Columns } from './columns.js';
import { rowIsOfEnvironment } from './conditions.js';
import { uniqueRefusal } from './create-record.js';
import { authorOf } from './occasion.js';
import { announce, recordAudit, recordChange } from './recorded-change.js';
import { Refused } from './refusal.js';
import { rowToJson, stateIn, type Patch, type Resource, type RowOf } from './resource.js';
import type { Unit } from './unit.js';

/** A locked record and what is written of it. */
export type RecordPatch<C extends Columns> = {
  readonly row: RowOf<C>;
  readonly patch: Patch<C>;
};

/** Writes the same columns of several locked records in one statement; answers in their order. */
async function writeRows<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  changes: readonly RecordPatch<C>[],
): Promise<readonly RowOf<C>[]> {
  const stamp = { updated_at: unit.now, updated_by: authorOf(unit.actor) };
  const rows = changes.map(({ row, patch }) => {
    const values = { ...patch, ...nextVersion(resource, row), ...stamp };
    return rowToJson(resource, { id: row.id, ...values });
  });
  const names = Object.keys(rows[0] ?? {});
  const isUniform = rows.every((row) => Object.keys(row).join() === names.join());
  assertThat(isUniform, `changes of ${resource.table} that write different columns`);
  const table = sql.identifier([resource.table]);
  const assignments = names
    .filter((name) => name !== 'id')
    .map((name) => sql.fragment`${sql.identifier([name])} = given.${sql.identifier([name])}`);
  try {
    const written = await unit.tx.any(sql.type(resource.row)`
      UPDATE ${table} AS target SET ${sql.join(assignments, sql.fragment`, `)}
      FROM jsonb_populate_recordset(NULL::${table}, ${JSON.stringify(rows)}::jsonb) AS given
      WHERE target.id = given.id AND ${rowIsOfEnvironment('target')}
      RETURNING target.*`);
    const byId = new Map(written.map((row) => [row.id, row]));
    return changes.map(({ row }) => mustGet(byId, row.id, `a locked ${resource.name}`));
  } catch (error) {
    throw new Refused(uniqueRefusal(resource, error));
  }
}

/**
 * As `updateRecord`, of several locked records in one statement. All write the same columns.
 * @throws when one of them is not there.
 */
export async function updateRecords<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  changes: readonly RecordPatch<C>[],
): Promise<readonly RowOf<C>[]> {
  if (changes.length === 0) return [];
  const written = await writeRows(unit, resource, changes);
  for (const [index, after] of written.entries()) {
    recordChange(unit, resource, { before: changes[index]?.row ?? null, after });
  }
  return written;
}

/** The same move of several locked records. */
export type RecordMoves<C extends Columns, State extends string, MoveName extends string> = {
  readonly lifecycle: Lifecycle<State, MoveName>;
  readonly move: NoInfer<MoveName>;
  readonly to: NoInfer<State>;
  readonly changes: readonly RecordPatch<C>[];
  /** What the event of the move tells of a record (docs/http.md 11.3). */
  readonly told: (after: RowOf<C>, index: number) => unknown;
};

/**
 * As `moveRecord`, of several locked records in one statement. All write the same columns.
 * @throws when the state of one of them does not allow the move, which the caller has checked.
 */
export async function moveRecords<C extends Columns, State extends string, MoveName extends string>(
  unit: Unit,
  resource: Resource<C>,
  { lifecycle, move, to, changes, told }: RecordMoves<C, State, MoveName>,
): Promise<readonly RowOf<C>[]> {
  const { lifecycle: declared } = resource;
  assertThat(declared?.of === lifecycle, `a ${resource.name} lives by another life cycle`);
  assertThat(lifecycle.moves[move].to.includes(to), `${move} does not lead to ${to}`);
  for (const { row } of changes) {
    const state = lifecycle.states.find((one) => one === stateIn(declared, row));
    const isAllowed = state !== undefined && problemOfMove(lifecycle, move, state) === null;
    assertThat(isAllowed, `the state of ${resource.name} ${row.id} allows the move`);
  }
  if (changes.length === 0) return [];
  const written = await writeRows(
    unit,
    resource,
    changes.map(({ row, patch }) => ({ row, patch: { ...patch, [declared.column]: to } })),
  );
  const { announces: name } = lifecycle.moves[move];
  for (const [index, after] of written.entries()) {
    recordAudit(unit, resource, { before: changes[index]?.row ?? null, after, action: move });
    if (name !== null)
      announce(unit, resource, { id: after.id, name, told: await told(after, index) });
  }
  return written;
}
