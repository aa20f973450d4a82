import { InvalidArgumentError, type Command } from 'commander';
import { readStackConfig } from '../stack/stack-config.js';
import { VerbRefused } from '../stack/verb-refused.js';
import { acceptGap } from './accept-gap.js';
import { closeLog } from './close-log.js';
import { closeLostLog } from './close-lost-log.js';
import { endRenewedBatches, hasRenewedBatches } from './end-renewed-batches.js';
import { withLogStores } from './log-stores.js';
import { withOwnerDatabase } from './owner-database.js';
import { renewPostgresLog } from './postgres-log.js';
import { takeOver } from './take-over.js';

/** `minutebook log renew`. */
async function renew(): Promise<void> {
  if (readStackConfig(process.env).KAFKA_BROKERS !== undefined) {
    throw new VerbRefused(
      'KAFKA_BROKERS is set: only the log in PostgreSQL is renewed, since a topic that is made anew ' +
        'has a new id by itself',
    );
  }
  const { logId, hasBatches } = await withOwnerDatabase(async (database) => ({
    logId: await renewPostgresLog(database),
    hasBatches: await hasRenewedBatches(database),
  }));
  // ClickHouse is needed only for these.
  if (hasBatches) await withLogStores(endRenewedBatches);
  console.log(`The log in PostgreSQL is now ${logId}. Start the programs.`);
}

/** `minutebook log close --lost <log>`. */
async function closeLost(lost: string): Promise<void> {
  const begun = await withLogStores((stores) => closeLostLog(stores, lost));
  console.log(
    `Log ${lost} is closed, and ${begun} begun batches of it are ended. What is lost of them is listed by ` +
      '`minutebook dead-letters list`; what was not begun is not known, so let senders send again.',
  );
  console.log('Start the programs with the settings of the new log.');
}

/** `minutebook log close`. */
async function close({ lost }: { readonly lost?: string }): Promise<void> {
  if (lost !== undefined) {
    await closeLost(lost);
    return;
  }
  const { logId, partitions, completed, isInKafka } = await withLogStores(closeLog);
  const batches = completed === 0 ? '' : `, ${completed} begun batches were completed`;
  console.log(`Every record of log ${logId} is counted (${partitions} partitions${batches}).`);
  console.log(
    isInKafka
      ? 'Kafka cannot bar writers from a topic: keep every ingest stopped.'
      : 'The log is closed: a program that still writes to it is refused.',
  );
  console.log('Start the programs with the settings of the new log.');
}

/** `minutebook log accept-gap <partition>`. */
async function accept(partition: number): Promise<void> {
  const { from, to } = await withLogStores((stores) => acceptGap(stores, partition));
  console.log(
    `Partition ${partition} goes on at record ${to}; what was not counted from ${from} on is given ` +
      'up, and listed by `minutebook dead-letters list`. Start the aggregators.',
  );
}

/** `minutebook log take-over`. */
async function takeOverAll(): Promise<void> {
  const done = await withLogStores(takeOver);
  for (const [partition, { from, to, events }] of done) {
    console.log(
      `Partition ${partition} goes on at record ${to} instead of ${from}: the batches between them, ` +
        `with ${events} events, are complete.`,
    );
  }
  console.log(
    done.size > 0 ? 'Start the aggregators.' : 'Nothing is written beyond any checkpoint.',
  );
}

function partitionFrom(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be the number of a partition');
}

/** Adds `minutebook log …` for operators, while the programs are stopped. */
export function addLogVerb(program: Command): void {
  const verb = program
    .command('log')
    .description('end the event log, give it a new id, or go on behind a gap or a lost checkpoint');
  verb
    .command('close')
    .description('check that all of it is counted, before another log takes its place')
    .option('--lost <log>', 'end the log of this id, which nobody can read any more')
    .action(close);
  verb
    .command('renew')
    .description('give the log in PostgreSQL a new id, after a restore by other tools')
    .action(renew);
  verb
    .command('accept-gap')
    .description('go on behind records that the log lost before they were counted')
    .argument('<partition>', 'its number, as the aggregator names it', partitionFrom)
    .action(accept);
  verb
    .command('take-over')
    .description('go on behind batches that ClickHouse holds and PostgreSQL has lost')
    .action(takeOverAll);
}
