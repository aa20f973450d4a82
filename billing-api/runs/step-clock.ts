import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { instantColumn, noRows } from '../../sql/columns.js';
import { isOfEnvironment } from '../records/conditions.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
import { readOperation } from '../records/operation.js';
import { writeUnit, type ReadUnit, type Unit, type WriteDependencies } from '../records/unit.js';

/** A clock on its way. */
export type Advance = {
  readonly id: string;
  readonly now: InstantMs;
  readonly to: InstantMs;
};

const advanceRow = z.object({ now: instantColumn, advance_to: instantColumn });

/** The advance of a clock that is under way; null when none is. */
export const findAdvance = readOperation(async ({ tx }, id: string): Promise<Advance | null> => {
  const row = await tx.maybeOne(sql.type(advanceRow)`
      SELECT now, advance_to FROM test_clocks
      WHERE id = ${id} AND clock_status = 'advancing' AND ${isOfEnvironment}`);
  return row === null ? null : { id, now: row.now, to: row.advance_to };
});

const dueRow = z.object({ at: instantColumn.nullable() });

/** The next instant after the one that the clock shows at which something falls due; or null. */
async function findNextDue(unit: ReadUnit, to: InstantMs): Promise<InstantMs | null> {
  const { tx, now, environment } = unit;
  const { tenantId, environmentId } = environment;
  const { at } = await tx.one(sql.type(dueRow)`
    SELECT min(at) AS at FROM due_items(${tenantId}, ${environmentId},
      ${formatInstant(now)}::timestamptz, ${formatInstant(to)}::timestamptz)`);
  return at;
}

async function write(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
  work: (unit: Unit) => Promise<InstantMs | null>,
): Promise<InstantMs | null> {
  const done: InstantMs | null | Refusal = await writeUnit(dependencies, occasion, work);
  if (isRefusal(done)) throw new Error(done.message);
  return done;
}

/**
 * Turns a clock to the next instant at which something falls due, and answers it; null when nothing
 * does before its end, or the clock is gone.
 */
export function stepClock(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
  { id, to }: Advance,
): Promise<InstantMs | null> {
  return write(dependencies, occasion, async (unit) => {
    const at = await findNextDue(unit, to);
    if (at === null) return null;
    const { rowCount } = await unit.tx.query(sql.type(noRows)`
      UPDATE test_clocks SET now = ${formatInstant(at)}::timestamptz
      WHERE id = ${id} AND clock_status = 'advancing' AND ${isOfEnvironment}`);
    return rowCount === 1 ? at : null;
  });
}

/** Turns a clock to where its advance leads: nothing more is due before. */
export async function endAdvance(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
  { id, to }: Advance,
): Promise<void> {
  await write(dependencies, occasion, async ({ tx }) => {
    await tx.query(sql.type(noRows)`
      UPDATE test_clocks SET now = ${formatInstant(to)}::timestamptz, clock_status = 'ready',
        advance_to = NULL
      WHERE id = ${id} AND clock_status = 'advancing' AND ${isOfEnvironment}`);
    return null;
  });
}

/** Leaves a clock where its advance could not go on, with the reason. */
export async function failAdvance(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
  { advance, reason }: { readonly advance: Advance; readonly reason: string },
): Promise<void> {
  await write(dependencies, occasion, async ({ tx }) => {
    await tx.query(sql.type(noRows)`
      UPDATE test_clocks SET clock_status = 'failed', failure_reason = ${reason.slice(0, 1000)},
        advance_to = NULL
      WHERE id = ${advance.id} AND ${isOfEnvironment}`);
    return null;
  });
}
