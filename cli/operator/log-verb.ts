import type { Command } from 'commander';
import { readStackConfig } from '../stack-config.js';
import { VerbRefused } from '../verb-refused.js';
import { closeLog } from './close-log.js';
import { withLogStores } from './log-stores.js';
import { withOwnerDatabase } from './owner-database.js';
import { renewPostgresLog } from './postgres-log.js';

/** `minutebook log renew`. */
async function renew(): Promise<void> {
  if (readStackConfig(process.env).KAFKA_BROKERS !== undefined) {
    throw new VerbRefused(
      'KAFKA_BROKERS is set: only the log in PostgreSQL is renewed, since a topic that is made anew ' +
        'has a new id by itself',
    );
  }
  const logId = await withOwnerDatabase(renewPostgresLog);
  console.log(`The log in PostgreSQL is now ${logId}. Start the programs.`);
}

/** `minutebook log close`. */
async function close(): Promise<void> {
  const { logId, partitions, completed } = await withLogStores(closeLog);
  const batches = completed === 0 ? '' : `, ${completed} begun batches were completed`;
  console.log(
    `Every record of log ${logId} is counted (${partitions} partitions${batches}). It is closed.`,
  );
  console.log('Start the programs with the settings of the new log.');
}

/** Adds `minutebook log close|renew` for operators, while the programs are stopped. */
export function addLogVerb(program: Command): void {
  const verb = program.command('log').description('end the event log, or give it a new id');
  verb
    .command('close')
    .description('check that all of it is counted, before another log takes its place')
    .action(close);
  verb
    .command('renew')
    .description('give the log in PostgreSQL a new id, after a restore by other tools')
    .action(renew);
}
