import { sql } from 'slonik';
import { formatInstant } from '../../../contract/instant.js';
import type { Occasion } from '../../records/occasion.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { notFound, Refusal } from '../../records/refusal.js';
import { writeUnit, type WriteDependencies } from '../../records/unit.js';
import { jobRow, jobToDto, type JobRow } from './job-item.js';

/** POST /jobs/{id}/retry: a parked item is due at once, and has all of its tries again. */
export function retryJob(
  dependencies: WriteDependencies,
  occasion: Occasion,
  id: string,
): Promise<JobRow | Refusal> {
  return writeUnit(dependencies, occasion, async (unit) => {
    const before = await unit.tx.maybeOne(sql.type(jobRow)`
      SELECT id, name, key, input, status, attempts, due_at, run_at, error, parked_at, created_at
      FROM jobs WHERE ${isOfEnvironment} AND id = ${id} FOR UPDATE`);
    if (before === null) return notFound('job', id);
    if (before.status !== 'parked') {
      return new Refusal(
        'invalid_operation',
        `job ${id} is ${before.status}: only a parked one can be run again`,
      );
    }
    const after = await unit.tx.one(sql.type(jobRow)`
      UPDATE jobs
      SET status = 'waiting', attempts = 0, parked_at = NULL, run_at = ${formatInstant(unit.now)}
      WHERE ${isOfEnvironment} AND id = ${id}
      RETURNING id, name, key, input, status, attempts, due_at, run_at, error, parked_at, created_at`);
    unit.changes.push({
      ...{ entityType: 'job', entityId: id, action: 'updated' },
      ...{ before: jobToDto(before), after: jobToDto(after) },
    });
    return after;
  });
}
