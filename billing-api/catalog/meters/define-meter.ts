import {
  compileExpression,
  isExpressionProblem,
} from '../../../contract/expression/compile-expression.js';
import { EXPRESSIONS_COST_MAX, METERS_OF_EVENT_NAME_MAX } from '../../../contract/meter.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { Occasion } from '../../records/occasion.js';
import { lockForChange, updateRecord, type ChangeTarget } from '../../records/change-record.js';
import { createRecord } from '../../records/create-record.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import { accept, invalid, isRefusal, Refusal, Refused } from '../../records/refusal.js';
import type { NewRecord } from '../../records/resource.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { isSameFilters, lostInput, newMeter, readMeterFilters } from './meter-rules.js';
import {
  METERS,
  type ChangeMeterBody,
  type CreateMeterBody,
  type MeterRow,
} from '../../declarations/catalog/meter.resource.js';
import {
  activateDefinition,
  findLostInput,
  countMetersOfEvent,
  expressionsOfEvent,
  findFedVersions,
  revertDefinition,
} from './meters-store.js';

/**
 * The usage rows of one record of the log must fit into one insert (docs/internals/architecture.md
 * 3.4).
 */
function tooManyMeters(): Refusal {
  const problem = `has ${METERS_OF_EVENT_NAME_MAX} meters already: archive one that is not needed`;
  return invalid({ event_name: `${problem}, or group by a property instead of filtering by it` });
}

/** One that does not compile any more costs nothing: its values are unreadable. */
function costOf(expression: string): number {
  const compiled = compileExpression(expression);
  return isExpressionProblem(compiled) ? 0 : compiled.cost;
}

/** Every event of the name is evaluated by all of them, on a thread that all tenants share. */
async function refuseCost(unit: Unit, row: MeterRow): Promise<void> {
  const { aggregation_expression: expression, event_name: eventName } = row;
  if (expression === null) return;
  const others = await expressionsOfEvent(unit, eventName);
  const cost = others.reduce((sum, other) => sum + costOf(other), 0);
  if (cost <= EXPRESSIONS_COST_MAX) return;
  const own = costOf(expression);
  throw new Refused(
    invalid({
      'aggregation.expression':
        `costs ${own} (1 for each part of it, 10 more for each division and remainder), and the expressions of the other ` +
        `meters of this event name cost ${cost - own}: at most ${EXPRESSIONS_COST_MAX} together are allowed; make it ` +
        'shorter, archive a meter that is not needed, or send the value as a property',
    }),
  );
}

/**
 * Stores a meter and puts its first definition in force in the same unit
 * (docs/internals/architecture.md 3.2), so that a meter which can be read is always one that is
 * counted.
 */
export async function storeMeter(
  unit: Unit,
  meter: NewRecord<(typeof METERS)['columns']>,
): Promise<MeterRow> {
  const row = await createRecord(unit, METERS, meter);
  // Activations take turns, so after it nobody else can add a meter before this unit ends.
  const active = assertPresent(await activateDefinition(unit, row), 'the new meter');
  const count = await countMetersOfEvent(unit, row.event_name);
  if (count > METERS_OF_EVENT_NAME_MAX) throw new Refused(tooManyMeters());
  await refuseCost(unit, row);
  return active;
}

/** POST /meters: a meter that counts all events, those that came before it included. */
export async function createMeter(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateMeterBody,
): Promise<MeterRow | Refusal> {
  const meter = newMeter(body);
  if (isRefusal(meter)) return meter;
  return writeUnit(dependencies, occasion, (unit) => storeMeter(unit, meter));
}

const IMMUTABLE = ['event_name', 'aggregation', 'reset_usage'] as const;

/** The members that a change sets, or what is wrong with it. */
function changedMembers(body: ChangeMeterBody) {
  const reader = new MemberReader();
  for (const member of IMMUTABLE) {
    if (body[member] !== undefined) reader.note(member, 'cannot be changed: make a new meter');
  }
  const { name, metadata, filters } = body;
  const members = givenOf({
    name: reader.changedName('name', name),
    metadata: reader.changedMetadata(metadata),
    filters: filters === undefined ? undefined : readMeterFilters(reader, filters ?? []),
  });
  return reader.refusal() ?? members;
}

/**
 * Puts other filters in force: as a new version, which readers see when it has been applied to all
 * stored events; or at once, when they take back a change whose earlier version is still fed.
 */
async function redefine(unit: Unit, meter: MeterRow): Promise<MeterRow> {
  const fed = await findFedVersions(unit, meter.id);
  const earlier = fed.find(({ filters }) => isSameFilters(filters, meter.filters));
  if (earlier !== undefined) {
    return assertPresent(await revertDefinition(unit, meter, earlier), 'the changed meter');
  }
  const redefined = assertPresent(await activateDefinition(unit, meter), 'the changed meter');
  const beginMs = await findLostInput(unit, meter.id);
  return accept(beginMs === null ? redefined : lostInput(beginMs));
}

/** The members of a meter that a change sets. */
export type MeterPatch = Exclude<ReturnType<typeof changedMembers>, Refusal>;

/** Changes a meter, and what it counts when the filters are others. A refusal ends the unit. */
export async function changeMeterIn(
  unit: Unit,
  target: ChangeTarget,
  members: MeterPatch,
): Promise<MeterRow> {
  const row = await lockForChange(unit, METERS, target);
  const isRedefined = members.filters !== undefined && !isSameFilters(members.filters, row.filters);
  if (!isRedefined) {
    return updateRecord(unit, METERS, { row, patch: { ...members, filters: row.filters } });
  }
  if (row.backfill.status === 'running') {
    const applied = `version ${row.version} of the meter is still being applied to stored events`;
    throw new Refused(new Refusal('version_conflict', `${applied}; try again later`));
  }
  const patch = { ...members, version: row.version + 1 };
  const changed = await updateRecord(unit, METERS, { row, patch });
  return redefine(unit, changed);
}

/** PUT /meters/{id}. */
export async function changeMeter(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeMeterBody },
): Promise<MeterRow | Refusal> {
  const members = changedMembers(body);
  if (isRefusal(members)) return members;
  return writeUnit(dependencies, occasion, (unit) => changeMeterIn(unit, target, members));
}
