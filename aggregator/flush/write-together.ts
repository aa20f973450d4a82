import type { ClickHouse } from '../../clickhouse/client.js';
import { DependencyError } from '../../runtime/failure.js';
import { BATCH_TABLES, type BatchTable } from '../fold/batch-tables.js';
import type { Command } from '../protocol/state.js';
import { divideBatches, insertBatches, type BatchToWrite } from '../write/insert-batches.js';
import type { CheckpointStore } from '../ownership/checkpoint-store.js';
import type { Performance, Writing, WriteTogether } from './flush.js';

type Stores = { readonly checkpoints: CheckpointStore; readonly clickhouse: ClickHouse };

type Of<Kind extends Command['kind']> = Extract<Command, { readonly kind: Kind }>;

/** The commands of one kind, each with its partition. */
function commandsOf<Kind extends Writing['command']['kind']>(
  writings: readonly Writing[],
  kind: Kind,
): readonly (Of<Kind> & { readonly partition: number })[] {
  return writings.flatMap(({ partition, command }) =>
    command.kind === kind ? [{ ...(command as Of<Kind>), partition }] : [],
  );
}

/** @throws errors that are no outages. */
function unknownAfter(error: unknown): Performance {
  if (error instanceof DependencyError) return { outcome: { kind: 'unknown' }, cause: error };
  throw error;
}

const INSERTED: Performance = { outcome: { kind: 'inserted' }, cause: null };

/** Nothing was written, but only one of the partitions need be lost: each asks by a new take. */
const REFUSED_TOGETHER: Performance = {
  outcome: { kind: 'unknown' },
  cause: new DependencyError(
    'an insert for several partitions was refused, since another process has taken one of them',
    { dependency: 'clickhouse', isRetryable: true },
  ),
};

async function insertOnce(
  { clickhouse }: Stores,
  table: BatchTable,
  batches: readonly BatchToWrite[],
): Promise<Performance> {
  try {
    const { outcome } = await insertBatches(clickhouse, table, batches);
    if (outcome === 'inserted') return INSERTED;
    if (batches.length > 1) return REFUSED_TOGETHER;
    return { outcome: { kind: 'fenced' }, cause: null };
  } catch (error) {
    return unknownAfter(error);
  }
}

const SEVERITY = ['inserted', 'fenced', 'unknown'];

/** The less certain of the outcomes of two inserts. */
export function lessCertain(one: Performance, other: Performance): Performance {
  const [rank, otherRank] = [one, other].map(({ outcome }) => SEVERITY.indexOf(outcome.kind));
  return (rank ?? 0) >= (otherRank ?? 0) ? one : other;
}

/** Sends the inserts of all tables side by side, and waits until the last has ended. */
async function insertAll(
  stores: Stores,
  commands: readonly (Of<'insert'> & { readonly partition: number })[],
): Promise<ReadonlyMap<number, Performance>> {
  const performed = new Map(commands.map(({ partition }) => [partition, INSERTED]));
  const bounds = { rowsMax: stores.clickhouse.blockRowsMax };
  const inserts = BATCH_TABLES.flatMap((table) => {
    const batches = commands.filter(({ tables }) => tables.includes(table));
    return divideBatches(batches, table, bounds).map(async (together) => {
      const performance = await insertOnce(stores, table, together);
      for (const { batch } of together) {
        const { partition } = batch.range;
        performed.set(partition, lessCertain(performance, performed.get(partition) ?? INSERTED));
      }
    });
  });
  const ended = await Promise.allSettled(inserts);
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
  return performed;
}

/** The refused ones read their row, since it says what follows. */
async function writtenOrRefused(
  { checkpoints }: Stores,
  partition: number,
  written: ReadonlySet<number>,
): Promise<Performance> {
  if (written.has(partition)) return { outcome: { kind: 'written' }, cause: null };
  try {
    const checkpoint = await checkpoints.read(partition);
    return { outcome: { kind: 'refused', checkpoint }, cause: null };
  } catch (error) {
    return unknownAfter(error);
  }
}

async function updateAll(
  stores: Stores,
  partitions: readonly number[],
  update: () => Promise<ReadonlySet<number>>,
): Promise<ReadonlyMap<number, Performance>> {
  const answer = await update().catch(unknownAfter);
  const performed = partitions.map(async (partition) => {
    const own = 'outcome' in answer ? answer : await writtenOrRefused(stores, partition, answer);
    return [partition, own] as const;
  });
  return new Map(await Promise.all(performed));
}

/** Writes for several partitions: an insert for each table, one update of all checkpoints. */
export function createWriteTogether(stores: Stores): WriteTogether {
  const { checkpoints } = stores;
  return (writings) => {
    const partitions = writings.map(({ partition }) => partition);
    switch (writings[0]?.command.kind) {
      case 'intend': {
        const batches = commandsOf(writings, 'intend');
        return updateAll(stores, partitions, () => checkpoints.intend(batches));
      }
      case 'finish': {
        const batches = commandsOf(writings, 'finish');
        return updateAll(stores, partitions, () => checkpoints.finish(batches));
      }
      case 'insert':
        return insertAll(stores, commandsOf(writings, 'insert'));
      case undefined:
        return Promise.resolve(new Map());
    }
  };
}
