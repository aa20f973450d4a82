import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { DependencyError } from '../runtime/failure.js';
import type { ClickHouse, QueryParameters } from './client.js';

const ATTEMPTS_MAX = 50;
const PAUSE_MS = 100;

const foundRow = z.object({ found: z.coerce.number() });

/** A condition on the columns of `system.processes`, and its parameters. */
export type WhichQueries = { readonly condition: string; readonly parameters: QueryParameters };

/**
 * Ends the queries that are running, and resolves when none of them runs any more.
 * @throws DependencyError when some still run after 5 s, or the server fails.
 */
export async function endQueries(
  clickhouse: ClickHouse,
  { condition, parameters }: WhichQueries,
): Promise<void> {
  const countRunning = `SELECT count() AS found FROM system.processes WHERE ${condition}`;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    await clickhouse.command(`KILL QUERY WHERE ${condition} SYNC`, parameters);
    const [running] = await clickhouse.query(countRunning, parameters, foundRow);
    if (running?.found === 0) return;
    await delay(PAUSE_MS);
  }
  throw new DependencyError(
    'ClickHouse still runs inserts of an aggregator, 5 s after it was told to end them',
    { dependency: 'clickhouse', isRetryable: true },
  );
}
