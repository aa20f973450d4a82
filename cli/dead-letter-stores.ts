import { createDeadLetters } from '../billing-api/events/dead-letters/dead-letters-store.js';
import type { ReplayDependencies } from '../billing-api/events/dead-letters/replay-dead-letters.js';
import { createLogAccess } from '../billing-api/usage/watermark/log-access.js';
import { createClickHouse } from '../clickhouse/client.js';
import { systemClock } from '../runtime/clock.js';
import { Lifecycle } from '../runtime/lifecycle.js';
import { createLog } from '../runtime/log.js';
import { createDatabase } from '../sql/pool.js';
import { startEngines } from './stack/engines.js';
import { readStackConfig } from './stack/stack-config.js';

/**
 * Runs `work` on the stores that the settings name. It starts embedded engines itself, so the
 * product must be stopped; the engines report it when it is not.
 */
export async function withDeadLetterStores<T>(
  work: (stores: ReplayDependencies) => Promise<T>,
): Promise<T> {
  const config = readStackConfig(process.env);
  const logger = createLog('minutebook', 'warn');
  const lifecycle = new Lifecycle(logger);
  try {
    const engines = await startEngines(config, logger, lifecycle);
    const database = await createDatabase(engines.ownerDatabaseUrl, {
      poolSize: 2,
      role: 'owner',
    });
    lifecycle.onClose('postgres', () => database.close());
    const clickHouse = createClickHouse(engines.clickhouseUrl);
    lifecycle.onClose('clickhouse', () => clickHouse.close());
    const logConfig = { ...config, DATABASE_URL: engines.databaseUrl };
    const access = { config: logConfig, database, clock: systemClock, lifecycle };
    const { eventLog } = createLogAccess(access);
    const deadLetters = createDeadLetters(clickHouse);
    return await work({ database, deadLetters, eventLog, clock: systemClock });
  } finally {
    await lifecycle.close();
  }
}
