import { join } from 'node:path';
import { findRunningClickHouse } from '../../../clickhouse/running-embedded.js';
import type { Lifecycle } from '../../../runtime/lifecycle.js';
import { createLog } from '../../../runtime/log.js';
import { findRunningPostgres } from '../../../sql/running-embedded.js';
import { startEngines } from '../../stack/engines.js';
import type { StackConfig } from '../../stack/stack-config.js';

export type EngineUrls = {
  readonly owner: string;
  readonly programs: string;
  readonly clickhouse: string;
};

/** Servers of your own, or embedded ones that run because the product does; null when one rests. */
async function findRunning(config: StackConfig): Promise<EngineUrls | null> {
  const directory = (name: string): string => join(config.MINUTEBOOK_DATA_DIR, name);
  const programs = config.DATABASE_URL ?? (await findRunningPostgres(directory('postgres')));
  const clickhouse =
    config.CLICKHOUSE_URL ?? (await findRunningClickHouse(directory('clickhouse')));
  if (programs === null || clickhouse === null) return null;
  return { owner: config.MINUTEBOOK_OWNER_DATABASE_URL ?? programs, programs, clickhouse };
}

/** Where both databases answer. Embedded ones that rest run until the end of `lifecycle`. */
export async function findOrStartEngines(
  config: StackConfig,
  lifecycle: Lifecycle,
): Promise<EngineUrls> {
  const running = await findRunning(config);
  if (running !== null) return running;
  const engines = await startEngines(config, createLog('minutebook', 'warn'), lifecycle);
  const { ownerDatabaseUrl: owner, databaseUrl: programs, clickhouseUrl: clickhouse } = engines;
  return { owner, programs, clickhouse };
}
