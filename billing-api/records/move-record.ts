import { assertThat } from '../../runtime/failure.js';
import { problemOfMove, type Lifecycle } from '../domain/lifecycle/lifecycle.js';
import { targetRefusal, writeRow, type ChangeTarget } from './change-record.js';
import type { Columns } from './columns.js';
import { lockRecord } from './find-record.js';
import { announce, recordAudit } from './recorded-change.js';
import { accept, notFound, Refusal, Refused } from './refusal.js';
import { stateIn, type Patch, type Resource, type RowOf } from './resource.js';
import type { Unit } from './unit.js';

/** What a move writes; a record that is not shown any more may be archived with it. */
type Moved<C extends Columns> = Patch<C> & { readonly status?: 'archived' };

/** One move of one record. */
export type RecordMove<C extends Columns, State extends string, MoveName extends string> = {
  readonly target: ChangeTarget;
  /** The record, where the unit has locked it already. */
  readonly locked?: RowOf<C>;
  /** That of the resource, so that the names of moves and states are checked by the compiler. */
  readonly lifecycle: Lifecycle<State, MoveName>;
  readonly move: NoInfer<MoveName>;
  /** The state that the move leads to, which may follow from the record. */
  readonly to: NoInfer<State> | ((row: RowOf<C>) => NoInfer<State>);
  /** What is written beside the state, such as the instant of the move. */
  readonly patch?: (row: RowOf<C>) => Moved<C> | Refusal | Promise<Moved<C> | Refusal>;
  /** What the event of the move tells of the record (docs/http.md 11.3); none where it has none. */
  readonly told?: (after: RowOf<C>) => unknown;
};

/** Refuses a move that the state of a record does not allow. */
function checkMove<State extends string, MoveName extends string>(
  lifecycle: Lifecycle<State, MoveName>,
  move: MoveName,
  stored: string,
): void {
  const state = lifecycle.states.find((one) => one === stored);
  assertThat(state !== undefined, `the ${lifecycle.subject} is in a state of its life cycle`);
  const problem = problemOfMove(lifecycle, move, state);
  if (problem !== null) throw new Refused(new Refusal('invalid_operation', problem));
}

async function announceMove<C extends Columns>(
  unit: Unit,
  resource: Resource<C>,
  {
    name,
    after,
    told,
  }: {
    readonly name: Parameters<typeof announce>[2]['name'] | null;
    readonly after: RowOf<C>;
    readonly told: ((after: RowOf<C>) => unknown) | undefined;
  },
): Promise<void> {
  if (name === null) return;
  assertThat(told !== undefined, `${name} tells of the ${resource.name}`);
  announce(unit, resource, { id: after.id, name, told: await told(after) });
}

/**
 * Moves a record on in its life cycle. Locks it, and refuses an unknown record (404), another
 * version than the caller has seen (409), and a move that its state does not allow (400). Writes
 * the new state, raises the version, and notes the audit entry and the event of the move. Of two
 * that come at once the second sees what the first has made of the record.
 */
export async function moveRecord<C extends Columns, State extends string, MoveName extends string>(
  unit: Unit,
  resource: Resource<C>,
  {
    target,
    locked,
    lifecycle,
    move,
    to: goal,
    patch = () => ({}),
    told,
  }: RecordMove<C, State, MoveName>,
): Promise<RowOf<C>> {
  const { lifecycle: declared } = resource;
  assertThat(declared?.of === lifecycle, `a ${resource.name} lives by another life cycle`);
  const row = locked ?? (await lockRecord(unit, resource, target.id));
  if (row === null) throw new Refused(notFound(resource.name, target.id));
  accept(targetRefusal(resource, row, target));
  checkMove(lifecycle, move, stateIn(declared, row));
  const { announces: name, to: goals } = lifecycle.moves[move];
  const to = typeof goal === 'function' ? goal(row) : goal;
  assertThat(goals.includes(to), `${move} does not lead to ${to}`);
  const beside = accept(await patch(row));
  const after = await writeRow(unit, resource, {
    row,
    patch: { ...beside, [declared.column]: to },
  });
  recordAudit(unit, resource, { before: row, after, action: move });
  await announceMove(unit, resource, { name, after, told });
  return after;
}
