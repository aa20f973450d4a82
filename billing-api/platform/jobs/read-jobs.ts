import { sql } from 'slonik';
import type { Occasion } from '../../records/occasion.js';
import { allOf, isEqual, isOfEnvironment } from '../../records/conditions.js';
import { countMatches, type Page } from '../../records/search-records.js';
import { mustRead, type ReadDependencies } from '../../records/unit.js';
import { jobRow, type JobRow, type JobsQuery } from './job-item.js';

const JOBS = { table: 'jobs', scope: 'environment' } as const;

/** GET /jobs: what the environment has to do, oldest first. */
export function readJobs(
  dependencies: ReadDependencies,
  occasion: Occasion,
  query: JobsQuery,
): Promise<Page<JobRow>> {
  const { limit = 50, offset = 0 } = query;
  const where = allOf([...isEqual('status', query.status), ...isEqual('name', query.job)]);
  return mustRead(dependencies, occasion, async (unit) => {
    const items = await unit.tx.any(sql.type(jobRow)`
      SELECT id, name, key, input, status, attempts, due_at, run_at, error, parked_at, created_at
      FROM jobs WHERE ${where} AND ${isOfEnvironment}
      ORDER BY created_at, id LIMIT ${limit} OFFSET ${offset}`);
    const page = { limit, offset, itemCount: items.length };
    return { items, pagination: await countMatches(unit, { resource: JOBS, where }, page) };
  });
}
