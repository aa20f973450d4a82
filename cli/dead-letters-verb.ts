import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import {
  createDeadLetters,
  letterIdOf,
} from '../billing-api/events/dead-letters/dead-letters-store.js';
import { createLogAccess } from '../billing-api/events/log-access.js';
import {
  readDeadLetters,
  type DeadLettersPage,
} from '../billing-api/events/dead-letters/read-dead-letters.js';
import {
  replayAnyDeadLetters,
  type ReplayDependencies,
} from '../billing-api/events/dead-letters/replay-dead-letters.js';
import { isRefusal } from '../billing-api/records/refusal.js';
import { createClickHouse } from '../clickhouse/client.js';
import { formatInstant } from '../contract/instant.js';
import { systemClock } from '../runtime/clock.js';
import { Lifecycle } from '../runtime/lifecycle.js';
import { createLog } from '../runtime/log.js';
import { createDatabase } from '../sql/pool.js';
import { startEngines } from './engines.js';
import { readStackConfig } from './stack-config.js';

const EXCERPT_CHARACTERS = 100;
const LIMIT_MAX = 1_000;

function limitFrom(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new InvalidArgumentError(`a number from 1 to ${LIMIT_MAX}`);
}

/**
 * Works on the stores that the settings name. Embedded engines are started for it, so the product
 * must be stopped; the engines say so when it is not.
 */
async function withStores<T>(work: (stores: ReplayDependencies) => Promise<T>): Promise<T> {
  const config = readStackConfig(process.env);
  const logger = createLog('minutebook', 'warn');
  const lifecycle = new Lifecycle(logger);
  try {
    const engines = await startEngines(config, logger, lifecycle);
    const database = await createDatabase(engines.databaseUrl, { poolSize: 2 });
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

function print({ letters, total }: DeadLettersPage): void {
  for (const letter of letters) {
    const replays = letter.replays.map(
      ({ replayedAtMs, replayedBy }) => `${formatInstant(replayedAtMs)} by ${replayedBy}`,
    );
    const excerpt = JSON.stringify(letter.excerpt.slice(0, EXCERPT_CHARACTERS));
    console.log(`${letterIdOf(letter)}  ${formatInstant(letter.appendedAtMs)}  ${letter.reason}`);
    console.log(`  ${letter.payloadBytes} bytes: ${excerpt}`);
    console.log(`  replayed: ${replays.length === 0 ? 'never' : replays.join(', ')}`);
  }
  console.error(`${letters.length} of ${total}`);
}

/** `minutebook dead-letters list`: of all tenants, and of none. */
async function listLetters(options: { limit: number; offset: number }): Promise<void> {
  const page = await withStores((stores) => readDeadLetters(stores, null, options));
  if (isRefusal(page)) throw new Error(page.message);
  print(page);
}

/** `minutebook dead-letters replay <id…>`; ends with 1 when one of them could not be replayed. */
async function replayLetters(ids: readonly string[]): Promise<void> {
  const results = await withStores((stores) => replayAnyDeadLetters(stores, ids));
  if (isRefusal(results)) {
    console.error(results.message);
    process.exitCode = 1;
    return;
  }
  for (const { id, reason, events } of results) {
    console.log(
      reason === null ? `${id}  replayed, ${events} events` : `${id}  refused: ${reason}`,
    );
    if (reason !== null) process.exitCode = 1;
  }
}

/** Adds `minutebook dead-letters list|replay` for operators, who see the letters of everybody. */
export function addDeadLettersVerb(program: Command): void {
  const verb = program
    .command('dead-letters')
    .description('list or replay log records that could not be decoded, of all tenants');
  verb
    .command('list')
    .option('--limit <number>', 'how many', limitFrom, 50)
    .option('--offset <number>', 'how many newer ones to skip', Number, 0)
    .action(listLetters);
  verb.command('replay').argument('<ids...>', 'as list shows them').action(replayLetters);
}
