import type { BatchTable } from '../../../aggregator/fold/batch-tables.js';
import type { Candidate } from '../../../aggregator/fold/candidate.js';
import type { StoredId } from '../../../aggregator/fold/separate-duplicates.js';
import type {
  Batch,
  Checkpoint,
  Inspection,
  Presence,
} from '../../../aggregator/protocol/state.js';
import type { Mutation } from './mutations.js';
import type { PartitionFacts, Scenario } from './scenario.js';
import { withItem, type Part, type PartitionWorld, type Request, type World } from './world.js';

/** What ClickHouse does (write/usage-writer.ts): gate, inserts, look-ups. */

/** Position of the offset in an encoded row; the index inside the record is the next column. */
const OFFSET_COLUMN = { events: 13, ids: 3, duplicates: 2 } as const;

const linesOf = ({ encoded }: Batch, table: BatchTable): readonly (readonly unknown[])[] =>
  encoded[table].bytes
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line): readonly unknown[] => JSON.parse(line));

const namedRows = new WeakMap<Batch, Map<BatchTable, readonly number[]>>();

/** Positions of the events, or duplicates, of which an insert of a batch has rows. */
function rowsOf(facts: PartitionFacts, batch: Batch, table: BatchTable): readonly number[] {
  if (table === 'usage' || table === 'deadLetters') return [];
  const known = namedRows.get(batch) ?? new Map<BatchTable, readonly number[]>();
  namedRows.set(batch, known);
  const column = OFFSET_COLUMN[table];
  const rows =
    known.get(table) ??
    linesOf(batch, table).map(
      (row) => (facts.positions[Number(row[column])] ?? 0) + Number(row[column + 1]),
    );
  known.set(table, rows);
  return rows;
}

type UsageRows = Pick<Part, 'usage' | 'accepted'>;

const NO_USAGE: UsageRows = { usage: [], accepted: 0 };

const usageRows = new WeakMap<Batch, UsageRows>();

/** Meter, generation and number of events of the encoded rows of usage. */
function usageOf(batch: Batch): UsageRows {
  const known = usageRows.get(batch);
  if (known !== undefined) return known;
  const counts = new Map<number, number>();
  let accepted = 0;
  for (const row of linesOf(batch, 'usage')) {
    const events = Number(row[8]);
    if (row[3] === '#accepted') accepted += events;
    const generation = Number(row[4]);
    if (generation > 0) counts.set(generation, (counts.get(generation) ?? 0) + events);
  }
  const usage = [...counts].map(([generation, events]) => ({ generation, events }));
  const read = { usage, accepted };
  usageRows.set(batch, read);
  return read;
}

/** What the insert of one table of a batch writes. */
export function partOf(facts: PartitionFacts, batch: Batch, table: BatchTable): Part {
  const { start, end } = batch.range;
  const usage = table === 'usage' ? usageOf(batch) : NO_USAGE;
  return { start, end, rows: rowsOf(facts, batch, table), ...usage, isSynced: false };
}

function withParts(
  partition: PartitionWorld,
  table: BatchTable,
  parts: readonly Part[],
): PartitionWorld {
  return { ...partition, tables: { ...partition.tables, [table]: parts } };
}

export type Served =
  | { readonly kind: 'goes_on'; readonly request: Request; readonly world: World }
  | { readonly kind: 'refused' }
  | { readonly kind: 'done'; readonly world: World };

function hasTwoSteps({ plan, mutation }: Scenario): boolean {
  return plan.limits.powerLosses > 0 || mutation === 'half_inserts' || mutation === 'no_fsync';
}

/** Only the rows of the first of two blocks. */
function firstBlock(part: Part): Part {
  return { ...part, rows: part.rows.slice(0, part.rows.length >> 1) };
}

/** Changes the partitions of an insert; all of them at the same moment. */
function onMembers(
  world: World,
  { members }: Request,
  change: (partition: PartitionWorld, part: Part) => PartitionWorld,
): World {
  const partitions = world.partitions.slice();
  for (const { partition: index, part } of members) {
    const partition = partitions[index];
    if (partition !== undefined) partitions[index] = change(partition, part);
  }
  return { ...world, partitions };
}

/** Completes an insert whose rows are in the table: syncs them. */
export function completeInsert(world: World, request: Request, mutation: Mutation | null): World {
  const { table } = request;
  return onMembers(world, request, (partition, part) => {
    const parts = partition.tables[table];
    const index = parts.findIndex(
      ({ isSynced, start, end }) => !isSynced && start === part.start && end === part.end,
    );
    if (index < 0) return partition;
    const synced = { ...part, isSynced: mutation !== 'no_fsync' };
    return withParts(partition, table, withItem(parts, index, synced));
  });
}

/** Makes the rows of an insert visible, in every partition that it writes. */
function showRows(scenario: Scenario, world: World, request: Request): World {
  const { table } = request;
  const isHalf = scenario.mutation === 'half_inserts' && table !== 'usage';
  const isSynced = !hasTwoSteps(scenario);
  return onMembers(world, request, (partition, part) => {
    const shown = { ...(isHalf ? firstBlock(part) : part), isSynced };
    return withParts(partition, table, [...partition.tables[table], shown]);
  });
}

/** The gate lets an insert start that has the current epoch of every partition that it writes. */
function isRefused({ mutation }: Scenario, { partitions }: World, { members }: Request): boolean {
  if (mutation === 'no_gate') return false;
  const asked = mutation === 'gate_of_first_member' ? members.slice(0, 1) : members;
  return asked.some(({ partition, epoch }) => partitions[partition]?.gate !== epoch);
}

/**
 * The next step of an insert: it starts unless the gate refuses it, its rows become visible, and
 * it is answered when they are synced. Without power losses the last two steps are one.
 */
export function serveRequest(scenario: Scenario, world: World, request: Request): Served {
  if (request.phase === 'sent') {
    if (isRefused(scenario, world, request)) return { kind: 'refused' };
    return { kind: 'goes_on', request: { ...request, phase: 'running' }, world };
  }
  if (request.phase === 'visible') {
    return { kind: 'done', world: completeInsert(world, request, scenario.mutation) };
  }
  const shown = showRows(scenario, world, request);
  if (!hasTwoSteps(scenario)) return { kind: 'done', world: shown };
  return { kind: 'goes_on', request: { ...request, phase: 'visible' }, world: shown };
}

/** What a power loss leaves: synced parts only. */
export function loseUnsynced(partition: PartitionWorld): PartitionWorld {
  const keep = (table: BatchTable): readonly Part[] =>
    partition.tables[table].filter(({ isSynced }) => isSynced);
  return {
    ...partition,
    tables: {
      events: keep('events'),
      ids: keep('ids'),
      usage: keep('usage'),
      duplicates: keep('duplicates'),
      deadLetters: keep('deadLetters'),
    },
  };
}

/** What a kill leaves: every visible part, which may be half of an insert of two blocks. */
export function syncAll(partition: PartitionWorld): PartitionWorld {
  const sync = (table: BatchTable): readonly Part[] =>
    partition.tables[table].map((part) => (part.isSynced ? part : { ...part, isSynced: true }));
  return {
    ...partition,
    tables: {
      events: sync('events'),
      ids: sync('ids'),
      usage: sync('usage'),
      duplicates: sync('duplicates'),
      deadLetters: sync('deadLetters'),
    },
  };
}

export function offsetOf(facts: PartitionFacts, position: number): number {
  return facts.offsets[position] ?? -1;
}

function countRows(
  facts: PartitionFacts,
  parts: readonly Part[],
  range: { readonly start: number; readonly end: number },
): number {
  let found = 0;
  for (const { rows } of parts) {
    for (const position of rows) {
      const offset = offsetOf(facts, position);
      if (offset >= range.start && offset < range.end) found += 1;
    }
  }
  return found;
}

/** How many rows of a batch are in the tables; each usage insert has one marker. */
export function presenceOf(
  facts: PartitionFacts,
  { tables }: PartitionWorld,
  range: { readonly start: number; readonly end: number },
): Presence {
  const isBatch = ({ start, end }: Part): boolean => start === range.start && end === range.end;
  return {
    events: countRows(facts, tables.events, range),
    ids: countRows(facts, tables.ids, range),
    marker: tables.usage.filter(isBatch).length,
  };
}

export function inspectionOf(
  facts: PartitionFacts,
  partition: PartitionWorld,
  checkpoint: Checkpoint,
): Inspection {
  const { intent, nextOffset, lastBatch } = checkpoint;
  const beyond = { start: intent?.end ?? nextOffset, end: Number.POSITIVE_INFINITY };
  const { events, ids, usage } = partition.tables;
  const markers = usage.filter(({ end }) => end > beyond.start).length;
  const presence =
    lastBatch === null
      ? null
      : presenceOf(facts, partition, { start: lastBatch.start, end: nextOffset });
  return {
    rowsBeyond: countRows(facts, events, beyond) + countRows(facts, ids, beyond) + markers,
    lastBatch: presence,
    rawEventsBeginMs: null,
    logStart: partition.logStart,
    logEnd: partition.logEnd,
  };
}

export type FoundId = { readonly offset: number; readonly stored: StoredId };

/** The event as the product has decoded it. */
function candidateAt(facts: PartitionFacts, position: number): Candidate | undefined {
  const offset = offsetOf(facts, position);
  return facts.records[offset]?.candidates[position - (facts.positions[offset] ?? 0)];
}

/** Ids stored below an offset, with what a duplicate is compared with. */
export function storedIds(
  facts: PartitionFacts,
  { tables }: PartitionWorld,
  below: number,
): ReadonlyMap<string, FoundId> {
  const stored = new Map<string, FoundId>();
  for (const { rows } of tables.ids) {
    for (const position of rows) {
      const candidate = candidateAt(facts, position);
      if (candidate === undefined || candidate.offset >= below) continue;
      const { timestampMs, isTimestampGiven } = candidate.event;
      const { idHash, payloadHash, offset } = candidate;
      stored.set(idHash, { offset, stored: { payloadHash, timestampMs, isTimestampGiven } });
    }
  }
  return stored;
}

/** The statement of backfill-meter.ts: matching stored events below the start offsets. */
export function countMatching(
  facts: PartitionFacts,
  { tables }: PartitionWorld,
  meter: { readonly plan: number; readonly liveFrom: number },
): number {
  let found = 0;
  for (const { rows } of tables.events) {
    for (const position of rows) {
      if (offsetOf(facts, position) >= meter.liveFrom) continue;
      if (facts.matches[meter.plan]?.[position] === true) found += 1;
    }
  }
  return found;
}
