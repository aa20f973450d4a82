import { indexMeters } from '../../../aggregator/fold/meter-index.js';
import type { BatchTable } from '../../../aggregator/fold/batch-tables.js';
import type { MeterDefinition } from '../../../contract/meter.js';
import { FIRST_STEP } from '../../../aggregator/protocol/steps.js';
import type { Catalog, Checkpoint, Command, Step } from '../../../aggregator/protocol/state.js';
import type { Limits } from './scenario-plan.js';
import { hashText, type Scenario } from './scenario.js';

/** Events counted under one generation. */
export type GenerationCount = { readonly generation: number; readonly events: number };

/** The rows of one insert in a table of ClickHouse: all of them, or half under a mutation. */
export type Part = {
  readonly start: number;
  readonly end: number;
  /** Positions of the events (expected-counts.ts) that the rows are of, ascending. */
  readonly rows: readonly number[];
  /** Of usage: one entry per generation. The marker of the batch is part of them. */
  readonly usage: readonly GenerationCount[];
  /** Of usage: events that were accepted, duplicates included. */
  readonly accepted: number;
  /** A part that is not synced is lost at a power loss. */
  readonly isSynced: boolean;
};

/** What an insert writes of one partition. */
export type RequestMember = {
  readonly partition: number;
  readonly epoch: number;
  readonly part: Part;
};

/** An insert of ClickHouse into one table. */
export type Request = {
  readonly table: BatchTable;
  /** The partitions of its process whose rows it writes, ascending; often only one. */
  readonly members: readonly RequestMember[];
  /** `visible`: renamed into the table, not synced, not answered. */
  readonly phase: 'sent' | 'running' | 'visible';
  /** The process that waits for the answer; null when nobody does any more. */
  readonly process: number | null;
};

/** `not_written`: the server refused it before it wrote. */
export type InsertOutcome = 'inserted' | 'not_written' | 'fenced' | 'unknown';

/** The inserts, side by side, for which an owner waits. */
export type Inserting = {
  /** Tables whose inserts have not ended. */
  readonly tables: readonly BatchTable[];
  /** The worst outcome of those that have. */
  readonly outcome: InsertOutcome;
  /** Tables whose inserts were not written. */
  readonly refused: readonly BatchTable[];
};

/** An update of PostgreSQL or of the gate whose sender has stopped waiting. */
export type LateWrite = Extract<
  Command,
  { readonly kind: 'intend' | 'finish' | 'take' | 'raise_gate' }
>;

/** Commands that read the log or the catalog (owner-reads.ts). */
export type Reads = Extract<Command, { readonly kind: 'fetch' | 'refetch' | 'load_catalog' }>;

export function isReads(command: Command): command is Reads {
  const { kind } = command;
  return kind === 'fetch' || kind === 'refetch' || kind === 'load_catalog';
}

/** The id filter of a process (dedup/id-filter.ts). */
export type OwnerFilter = {
  readonly idHashes: ReadonlySet<string>;
  /** It holds every id stored below this offset. */
  readonly completeBelow: number;
};

/**
 * What one process has of one partition that it owns, or believes to own. A process is the same
 * owner, by its position, in every partition.
 */
export type Owner = {
  readonly step: Step;
  /** Null when it does not wait for inserts. */
  readonly inserting: Inserting | null;
  /** Null until it is built. It survives the loss of the partition, but not of the process. */
  readonly filter: OwnerFilter | null;
};

export type PartitionWorld = {
  /** Records `[logStart, logEnd)` of the plan are in the log. */
  readonly logStart: number;
  readonly logEnd: number;
  /** Null until the row is made. */
  readonly row: Checkpoint | null;
  /** The row before its latest update, as a restored PostgreSQL has it. */
  readonly rowBefore: Checkpoint | null;
  readonly gate: number;
  readonly tables: Readonly<Record<BatchTable, readonly Part[]>>;
  /** Positions of events that were noted to be erased; they may be gone or still be there. */
  readonly erased: ReadonlySet<number>;
  readonly owners: readonly Owner[];
  readonly lateWrites: readonly LateWrite[];
};

/**
 * Where the live stream of a retired version ends, by partition. `loose`: nobody reads the version
 * any more, so its stream ends with the first batch that uses a newer catalog.
 */
export type StreamEnd = 'open' | 'loose' | readonly number[];

/** A row of `meter_versions` with its start offsets and backfill. */
export type MeterVersion = {
  /** Position in the plan's meters, and of the version in `MetersWorld.versions`. */
  readonly plan: number;
  readonly definition: MeterDefinition;
  readonly activatedIn: number;
  readonly retiredIn: number | null;
  readonly end: StreamEnd;
  /** By partition; a partition without a row begins at 0. */
  readonly startOffsets: readonly number[];
  readonly readGenerations: readonly number[];
  /** It is no longer read, and still counts events. */
  readonly isUnread: boolean;
  readonly backfill: 'none' | 'running' | 'failed' | 'completed';
  readonly attempts: number;
  /** Of the latest attempt; used only by the mutation that resumes an attempt. */
  readonly attemptGeneration: number | null;
};

/** One attempt at a backfill; one that was given up is never continued. */
export type Attempt = {
  /** Position of its version. */
  readonly version: number;
  /** Counted by version, from 1 on. */
  readonly number: number;
  readonly generation: number;
  /** Partitions that have been read so far, in order. */
  readonly partitionsDone: number;
};

/** Rows that an attempt wrote for one partition. */
export type AttemptPart = {
  readonly generation: number;
  readonly partition: number;
  readonly events: number;
};

/** A statement of a backfill whose outcome its process does not know. */
export type LateBackfill =
  | { readonly kind: 'insert'; readonly attempt: Attempt }
  | { readonly kind: 'complete'; readonly attempt: Attempt };

/** Everything in PostgreSQL and ClickHouse that belongs to meters and not to one partition. */
export type MetersWorld = {
  readonly version: number;
  readonly versions: readonly MeterVersion[];
  /** By meter: position of the version that readers see; a new meter may have none. */
  readonly inSight: Readonly<Record<string, number>>;
  /** By version, from 1 on. */
  readonly catalogs: readonly Catalog[];
  readonly nextGeneration: number;
  readonly attempts: readonly Attempt[];
  readonly attemptParts: readonly AttemptPart[];
  readonly late: readonly LateBackfill[];
};

/** How often each failure may still happen. */
export type Budget = Omit<Limits, 'epochs' | 'backfillAttempts'>;

export type World = {
  readonly partitions: readonly PartitionWorld[];
  /** Inserts under way. One that nobody waits for may take effect at any later time. */
  readonly requests: readonly Request[];
  readonly meters: MetersWorld;
  readonly budget: Budget;
};

export const FRESH_OWNER: Owner = { step: FIRST_STEP, inserting: null, filter: null };

const NO_PARTS: PartitionWorld['tables'] = {
  events: [],
  ids: [],
  usage: [],
  duplicates: [],
  deadLetters: [],
};

/** A row as `ensure-checkpoints.sql` makes it. */
export function newRow(catalogVersion: number): Checkpoint {
  return {
    epoch: 0,
    nextOffset: 0,
    intent: null,
    minVersion: catalogVersion,
    catalogVersion,
    lastBatch: null,
  };
}

/** A world with only the log and the first catalog; the caller activates the first meters. */
export function emptyWorld({ plan, partitions }: Scenario): World {
  return {
    partitions: partitions.map(({ records }): PartitionWorld => ({
      logStart: 0,
      logEnd: Math.min(records.length, plan.recordsAtStart),
      row: plan.lateRows ? null : newRow(1),
      rowBefore: null,
      gate: 0,
      tables: NO_PARTS,
      erased: new Set(),
      owners: Array.from({ length: plan.owners }, () => FRESH_OWNER),
      lateWrites: [],
    })),
    requests: [],
    meters: {
      version: 1,
      versions: [],
      inSight: {},
      catalogs: [{ version: 1, meters: indexMeters([], hashText) }],
      nextGeneration: 1,
      attempts: [],
      attemptParts: [],
      late: [],
    },
    budget: plan.limits,
  };
}

/** The list with one item replaced. */
export function withItem<T>(items: readonly T[], index: number, item: T): readonly T[] {
  const copy = items.slice();
  copy[index] = item;
  return copy;
}

/** The list without one item. */
export function withoutItem<T>(items: readonly T[], index: number): readonly T[] {
  const copy = items.slice();
  copy.splice(index, 1);
  return copy;
}
