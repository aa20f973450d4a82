import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { integerColumn, instantColumn, noRows } from '../../../sql/columns.js';
import { enqueue } from '../../../sql/jobs/enqueue.js';
import {
  testClockRow,
  type AdvanceTestClockBody,
  type CreateTestClockBody,
  type Happened,
  type TestClockRow,
} from '../../declarations/platform/test-clock.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { INSTANT_FORM, MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { accept, invalid, isRefusal, notFound, Refusal, Refused } from '../../records/refusal.js';
import { readOperation, writeOperation } from '../../records/operation.js';
import { writeUnit, type ReadUnit, type Unit, type WriteDependencies } from '../../records/unit.js';

/** As the job that advances a clock is queued; it is declared with the other jobs. */
export const ADVANCE_CLOCK = {
  name: 'advance-test-clock',
  keyOf: ({ clockId }: { readonly clockId: string }): string => clockId,
  onceWhileWaiting: true,
};

/** Every subscription of the environment lives through the whole advance in one job. */
const ADVANCE_MAX_MS = 2 * 366 * 24 * 3_600_000;
const HAPPENED_MAX = 1000;

/** A clock with what its last advance has done. */
export type ToldClock = { readonly row: TestClockRow; readonly happened: Happened };

const happenedRow = z.object({
  sequence: integerColumn,
  event_name: z.string(),
  entity_type: z.string(),
  entity_id: z.string(),
  created_at: instantColumn,
});

async function findHappened({ tx }: ReadUnit, after: number): Promise<Happened> {
  const found = await tx.any(sql.type(happenedRow)`
    SELECT sequence, event_name, entity_type, entity_id, created_at FROM system_events
    WHERE sequence > ${after} AND ${isOfEnvironment}
    ORDER BY sequence LIMIT ${HAPPENED_MAX + 1}`);
  const rows = found.slice(0, HAPPENED_MAX);
  const last = rows.at(-1);
  const nextAfter = last === undefined ? after : last.sequence;
  return { rows, nextAfter, hasMore: found.length > rows.length };
}

const tell = async (unit: ReadUnit, row: TestClockRow): Promise<ToldClock> => ({
  row,
  happened: await findHappened(unit, row.events_before),
});

function findClock({ tx }: ReadUnit, id: string): Promise<TestClockRow | null> {
  return tx.maybeOne(sql.type(testClockRow)`
    SELECT * FROM test_clocks WHERE id = ${id} AND ${isOfEnvironment}`);
}

const typeRow = z.object({ type: z.enum(['development', 'production']) });

/** Only a development environment has a clock of its own (docs/domain.md 32.4). */
async function refuseProduction({ tx, environment }: Unit): Promise<void> {
  const { type } = await tx.one(sql.type(typeRow)`
    SELECT type FROM environments WHERE id = ${environment.environmentId}`);
  if (type === 'development') return;
  const problem = 'the environment is of type production; only a development one has a test clock';
  throw new Refused(new Refusal('invalid_operation', problem));
}

const sequenceRow = z.object({ sequence: integerColumn });

async function lastSequence({ tx }: ReadUnit): Promise<number> {
  const { sequence } = await tx.one(sql.type(sequenceRow)`
    SELECT coalesce(max(sequence), 0) AS sequence FROM system_events WHERE ${isOfEnvironment}`);
  return sequence;
}

function readInstant(text: string): InstantMs | Refusal {
  const reader = new MemberReader();
  const instant = reader.instant('now', text);
  return reader.refusal() ?? instant ?? invalid({ now: `must be given: send ${INSTANT_FORM}` });
}

/** The clock that the environment has; a second one is refused, unless it would be the same. */
async function existing(
  unit: Unit,
  { name, instant }: { readonly name: string | null; readonly instant: InstantMs },
): Promise<TestClockRow | null> {
  const row = await unit.tx.maybeOne(sql.type(testClockRow)`
    SELECT * FROM test_clocks WHERE ${isOfEnvironment}`);
  if (row === null || (row.now === instant && row.name === name)) return row;
  const problem = `the environment has the test clock ${row.id}: advance it, or remove it first`;
  throw new Refused(new Refusal('already_exists', problem));
}

/** POST /test_clocks: from now on *now* of the environment is that of the clock. */
export function createTestClock(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { now, name = null }: Omit<CreateTestClockBody, 'name'> & { readonly name?: string | null },
): Promise<ToldClock | Refusal> {
  const instant = readInstant(now);
  if (isRefusal(instant)) return Promise.resolve(instant);
  return writeUnit(dependencies, occasion, async (unit) => {
    const found = await existing(unit, { name, instant });
    if (found !== null) return tell(unit, found);
    await refuseProduction(unit);
    const { tenantId, environmentId } = unit.environment;
    const row = await unit.tx.one(sql.type(testClockRow)`
      INSERT INTO test_clocks (tenant_id, environment_id, id, name, now, events_before, created_at)
      VALUES (${tenantId}, ${environmentId}, ${unit.newId('clock')}, ${name},
        ${formatInstant(instant)}::timestamptz, ${await lastSequence(unit)},
        ${formatInstant(unit.now)}::timestamptz)
      RETURNING *`);
    return tell(unit, row);
  });
}

/** GET /test_clocks: the clock that the environment has, if it has one. */
export const listTestClocks = readOperation(async (unit): Promise<readonly ToldClock[]> => {
  const rows = await unit.tx.any(sql.type(testClockRow)`
    SELECT * FROM test_clocks WHERE ${isOfEnvironment}`);
  return Promise.all(rows.map((row) => tell(unit, row)));
});

/** GET /test_clocks/{id}. */
export const readTestClock = readOperation(async (unit, id: string): Promise<ToldClock> => {
  const row = await findClock(unit, id);
  return accept(row === null ? notFound('test clock', id) : tell(unit, row));
});

/** DELETE /test_clocks/{id}: *now* is that of the machine again. */
export const removeTestClock = writeOperation(async (unit, id: string): Promise<void> => {
  const row = await findClock(unit, id);
  if (row === null) throw new Refused(notFound('test clock', id));
  await unit.tx.query(sql.type(noRows)`
      DELETE FROM test_clocks WHERE id = ${id} AND ${isOfEnvironment}`);
});

function advanceProblem({ now }: TestClockRow, to: InstantMs): string | null {
  if (to <= now) return `must be later than what the clock shows, ${formatInstant(now)}`;
  if (to - now <= ADVANCE_MAX_MS) return null;
  return `must be at most two years later than what the clock shows, ${formatInstant(now)}`;
}

/** POST /test_clocks/{id}/advance: a job does what falls due until then, in its order. */
export function advanceTestClock(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { id, body }: { readonly id: string; readonly body: AdvanceTestClockBody },
): Promise<ToldClock | Refusal> {
  const to = readInstant(body.now);
  if (isRefusal(to)) return Promise.resolve(to);
  return writeUnit(dependencies, occasion, async (unit) => {
    const row = await unit.tx.maybeOne(sql.type(testClockRow)`
      SELECT * FROM test_clocks WHERE id = ${id} AND ${isOfEnvironment} FOR UPDATE`);
    if (row === null) throw new Refused(notFound('test clock', id));
    if (row.clock_status === 'advancing') {
      throw new Refused(
        new Refusal('invalid_operation', 'the clock is advancing; poll it until it is ready'),
      );
    }
    const problem = advanceProblem(row, to);
    if (problem !== null) throw new Refused(invalid({ now: problem }));
    const begun = await unit.tx.one(sql.type(testClockRow)`
      UPDATE test_clocks SET clock_status = 'advancing', failure_reason = NULL,
        advance_to = ${formatInstant(to)}::timestamptz, events_before = ${await lastSequence(unit)}
      WHERE id = ${id} AND ${isOfEnvironment} RETURNING *`);
    await enqueue(unit, ADVANCE_CLOCK, { input: { clockId: id } });
    return tell(unit, begun);
  });
}
