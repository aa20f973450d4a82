import { sql } from 'slonik';
import { formatInstant } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { notFound, Refusal, Refused } from '../../records/refusal.js';
import { writeOperation } from '../../records/operation.js';
import type { Unit } from '../../records/unit.js';
import { jobRow, jobToDto, type JobRow } from './job-item.js';

/** Parked items that are due at once, and have all of their tries again. */
async function runAgain(unit: Unit, parked: readonly JobRow[]): Promise<readonly JobRow[]> {
  const after: JobRow[] = [];
  for (const before of parked) {
    const row = await unit.tx.one(sql.type(jobRow)`
      UPDATE jobs
      SET status = 'waiting', attempts = 0, parked_at = NULL, run_at = ${formatInstant(unit.now)}
      WHERE ${isOfEnvironment} AND id = ${before.id}
      RETURNING id, name, key, input, status, attempts, due_at, run_at, error, parked_at, created_at`);
    unit.changes.push({
      entityType: 'job',
      entityId: before.id,
      action: 'updated',
      before: jobToDto(before),
      after: jobToDto(row),
    });
    after.push(row);
  }
  return after;
}

/** Runs the parked items of a job again, a batch of them. @returns how many there were. */
export async function retryParked(
  unit: Unit,
  { name, limit }: { readonly name: string; readonly limit: number },
): Promise<number> {
  const parked = await unit.tx.any(sql.type(jobRow)`
    SELECT id, name, key, input, status, attempts, due_at, run_at, error, parked_at, created_at
    FROM jobs WHERE ${isOfEnvironment} AND name = ${name} AND status = 'parked'
    ORDER BY created_at, id LIMIT ${limit} FOR UPDATE SKIP LOCKED`);
  return (await runAgain(unit, parked)).length;
}

/** POST /jobs/{id}/retry: a parked item is due at once, and has all of its tries again. */
export const retryJob = writeOperation(async (unit, id: string): Promise<JobRow> => {
  const before = await unit.tx.maybeOne(sql.type(jobRow)`
      SELECT id, name, key, input, status, attempts, due_at, run_at, error, parked_at, created_at
      FROM jobs WHERE ${isOfEnvironment} AND id = ${id} FOR UPDATE`);
  if (before === null) throw new Refused(notFound('job', id));
  if (before.status !== 'parked') {
    throw new Refused(
      new Refusal(
        'invalid_operation',
        `job ${id} is ${before.status}: only a parked one can be run again`,
      ),
    );
  }
  const [after] = await runAgain(unit, [before]);
  return assertPresent(after, `the job ${id}`);
});
