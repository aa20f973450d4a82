import { assertThat } from '../../runtime/failure.js';
import { problemOfMove, type Lifecycle } from '../domain/lifecycle/lifecycle.js';
import { targetRefusal, writeRow, type ChangeTarget } from './change-record.js';
import type { Columns } from './columns.js';
import { lockRecord } from './find-record.js';
import { announce, recordAudit } from './recorded-change.js';
import { accept, notFound, Refusal, Refused } from './refusal.js';
import { stateIn, type Patch, type Resource, type RowOf } from './resource.js';
import type { Unit } from './unit.js';

/** One move of one record. */
export type RecordMove<C extends Columns, State extends string, MoveName extends string> = {
  readonly target: ChangeTarget;
  /** That of the resource, so that the names of moves and states are checked by the compiler. */
  readonly lifecycle: Lifecycle<State, MoveName>;
  readonly move: NoInfer<MoveName>;
  /** The state that the move leads to, which may follow from the record. */
  readonly to: NoInfer<State> | ((row: RowOf<C>) => NoInfer<State>);
  /** What is written beside the state, such as the instant of the move. */
  readonly patch?: (row: RowOf<C>) => Patch<C> | Refusal | Promise<Patch<C> | Refusal>;
  /** What the event of the move tells of the record (docs/http.md 11.3); none where it has none. */
  readonly told?: (after: RowOf<C>) => Promise<unknown>;
};

/**
 * Moves a record on in its life cycle: locks it, refuses an unknown one (404), another version than
 * the caller has seen (409), and a move that its state does not allow (400); writes the new state,
 * raises the version, and notes the audit entry under the name of the move and the event that
 * the move announces. Of two that come at once the second sees what the first has made of the
 * record.
 */
export async function moveRecord<C extends Columns, State extends string, MoveName extends string>(
  unit: Unit,
  resource: Resource<C>,
  { target, lifecycle, move, to: goal, patch = () => ({}), told }: RecordMove<C, State, MoveName>,
): Promise<RowOf<C>> {
  const { lifecycle: declared } = resource;
  assertThat(declared?.of === lifecycle, `a ${resource.name} lives by another life cycle`);
  const row = await lockRecord(unit, resource, target.id);
  if (row === null) throw new Refused(notFound(resource.name, target.id));
  const state = lifecycle.states.find((one) => one === stateIn(declared, row));
  assertThat(state !== undefined, `the ${resource.name} is in a state of its life cycle`);
  const problem = problemOfMove(lifecycle, move, state);
  accept(targetRefusal(resource, row, target));
  if (problem !== null) throw new Refused(new Refusal('invalid_operation', problem));
  const to = typeof goal === 'function' ? goal(row) : goal;
  assertThat(lifecycle.moves[move].to.includes(to), `${move} does not lead to ${to}`);
  const beside = accept(await patch(row));
  const after = await writeRow(unit, resource, {
    row,
    patch: { ...beside, [declared.column]: to },
  });
  recordAudit(unit, resource, { before: row, after, action: move });
  const { announces: name } = lifecycle.moves[move];
  if (name === null) return after;
  assertThat(told !== undefined, `${name} tells of the ${resource.name}`);
  announce(unit, resource, { id: after.id, name, told: await told(after) });
  return after;
}
