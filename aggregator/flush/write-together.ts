import { hasWrittenNothing } from '../../clickhouse/clickhouse-failure.js';
import type { ClickHouse } from '../../clickhouse/client.js';
import { DependencyError } from '../../runtime/failure.js';
import { BATCH_TABLES, type BatchTable } from '../fold/batch-tables.js';
import type { OutcomeOf, UnknownOutcome } from '../protocol/expected-outcomes.js';
import type { CommandOf } from '../protocol/state.js';
import { divideBatches, insertBatches, type BatchToWrite } from '../write/insert-batches.js';
import type { CheckpointStore } from '../checkpoints/checkpoint-store.js';
import type { Performance, Writing, WriteTogether } from './flush.js';

type Stores = { readonly checkpoints: CheckpointStore; readonly clickhouse: ClickHouse };

/** The commands of one kind, each with its partition. */
function commandsOf<Kind extends Writing['command']['kind']>(
  writings: readonly Writing[],
  kind: Kind,
): readonly (CommandOf<Kind> & { readonly partition: number })[] {
  return writings.flatMap(({ partition, command }) =>
    command.kind === kind ? [{ ...(command as CommandOf<Kind>), partition }] : [],
  );
}

type Unknown = Performance<UnknownOutcome>;
type Inserted = Performance<OutcomeOf<'insert'>>;
type Updated = Performance<OutcomeOf<'intend' | 'finish'>>;

/** @throws errors that are no outages. */
function unknownAfter(error: unknown): Unknown {
  if (error instanceof DependencyError) return { outcome: { kind: 'unknown' }, cause: error };
  throw error;
}

const INSERTED: Inserted = { outcome: { kind: 'inserted' }, cause: null };

/** Nothing was written, but only one of the partitions need be lost: each asks by a new take. */
const REFUSED_TOGETHER: Unknown = {
  outcome: { kind: 'unknown' },
  cause: new DependencyError(
    'an insert for several partitions was refused, since another process has taken one of them',
    { dependency: 'clickhouse', isRetryable: true },
  ),
};

/** What the tables hold is asked after a new take only, when nothing can change it any more. */
const REPEATED: Unknown = {
  outcome: { kind: 'unknown' },
  cause: new DependencyError(
    'an insert was refused, since its rows are there already: what is between this process and ' +
      'ClickHouse must not repeat requests (docs/operations.md 8.1)',
    { dependency: 'clickhouse', isRetryable: true },
  ),
};

async function insertOnce(
  { clickhouse }: Stores,
  table: BatchTable,
  batches: readonly BatchToWrite[],
): Promise<Inserted> {
  try {
    const { outcome } = await insertBatches(clickhouse, table, batches);
    if (outcome === 'inserted') return INSERTED;
    if (outcome === 'repeated') return REPEATED;
    if (batches.length > 1) return REFUSED_TOGETHER;
    return { outcome: { kind: 'fenced' }, cause: null };
  } catch (error) {
    const { outcome, cause } = unknownAfter(error);
    if (!hasWrittenNothing(cause)) return { outcome, cause };
    return { outcome: { kind: 'not_written', tables: [table] }, cause };
  }
}

const SEVERITY = ['inserted', 'not_written', 'fenced', 'unknown'];

/** The less certain of the outcomes of two inserts of a batch; refused tables are added up. */
export function lessCertain<P extends Performance>(one: P, other: P): P {
  const [rank, otherRank] = [one, other].map(({ outcome }) => SEVERITY.indexOf(outcome.kind));
  const worse = (rank ?? 0) >= (otherRank ?? 0) ? one : other;
  if (worse.outcome.kind !== 'not_written') return worse;
  const tables = [one, other].flatMap(({ outcome }) =>
    outcome.kind === 'not_written' ? outcome.tables : [],
  );
  return { ...worse, outcome: { kind: 'not_written', tables } };
}

/** Sends the inserts of all tables side by side, and waits until the last has ended. */
async function insertAll(
  stores: Stores,
  commands: readonly (CommandOf<'insert'> & { readonly partition: number })[],
): Promise<ReadonlyMap<number, Inserted>> {
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
): Promise<Updated> {
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
): Promise<ReadonlyMap<number, Updated>> {
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
