import type { InstantMs } from '../../contract/instant.js';
import type { DecodedRecord } from '../fold/candidate.js';
import type { BatchRange, BatchTable } from '../fold/batch-tables.js';
import type { BatchBounds, InsertBounds } from '../fold/cut-batch.js';
import type { DigestPart, EncodedBatch, EncodedRecords } from '../fold/encode-rows.js';
import type { FoldedRecords } from '../fold/fold-batch.js';
import type { MeterIndex } from '../fold/meter-index.js';
import type { StoredId } from '../fold/separate-duplicates.js';
import type { BatchSummary } from '../fold/summarize-batch.js';

/**
 * Says that the batch `[next_offset, end)` is about to be written. Until it is finished, the batch
 * may be partly in ClickHouse, and recovery writes exactly this batch.
 */
export type Intent = {
  readonly end: number;
  readonly catalogVersion: number;
  readonly foldVersion: number;
  /** Of the rows that the catalog does not change. Usage stands as a whole or not at all. */
  readonly digest: string;
};

/** The last finished batch, which must be in ClickHouse when the partition is taken. */
export type FinishedBatch = {
  readonly start: number;
  readonly rows: number;
  /** How many of its events were erased since, at most: as many may be missing (D-019). */
  readonly erased: number;
  /** When the log appended its first record, or earlier; null when nobody noted it. */
  readonly appendedAtMs: InstantMs | null;
};

/** A row of `aggregator_checkpoints`. */
export type Checkpoint = {
  readonly epoch: number;
  readonly nextOffset: number;
  readonly intent: Intent | null;
  /** No intent may use an older catalog. */
  readonly minVersion: number;
  /** Catalog of the latest intent; versions never go back. */
  readonly catalogVersion: number;
  readonly lastBatch: FinishedBatch | null;
};

/** Meters in force in one catalog version. */
export type Catalog = { readonly version: number; readonly meters: MeterIndex };

/** A batch that is ready to be written. */
export type Batch = {
  readonly range: BatchRange;
  /** When the log appended its first record. All of them are of the same day. */
  readonly appendedAtMs: InstantMs;
  readonly catalogVersion: number;
  readonly summary: BatchSummary;
  readonly encoded: EncodedBatch;
  readonly digest: string;
};

/** Rows of a batch that are in the tables already, counted in the tables themselves. */
export type Presence = {
  readonly events: number;
  readonly ids: number;
  /** How often its usage is there: 0 or 1; anything else is a contradiction (timesWritten). */
  readonly marker: number;
};

export type Inspection = {
  /** Event rows, id rows and markers beyond the end of the intent, or of the finished batches. */
  readonly rowsBeyond: number;
  /** What the tables hold of the last finished batch; null when there was none. */
  readonly lastBatch: Presence | null;
  /**
   * Retention may have removed raw events that the log appended before this instant; null when it
   * has removed none. Asked after the tables, since it rises before anything is removed.
   */
  readonly rawEventsBeginMs: InstantMs | null;
  readonly logStart: number;
  readonly logEnd: number;
};

/**
 * Why a partition halted and waits for an operator: the stores contradict each other, and no retry
 * can help (docs/operations.md 8).
 */
export type HaltReason =
  | 'rows_beyond_checkpoint'
  | 'last_batch_missing'
  | 'log_shorter_than_checkpoint'
  | 'log_start_beyond_checkpoint'
  | 'log_record_missing'
  | 'unknown_fold_version'
  | 'digest_mismatch'
  | 'batch_half_applied'
  | 'batch_applied_twice'
  | 'batch_too_large'
  /** No contradiction: ClickHouse refuses the inserts, each time with the same code. */
  | 'insert_refused';

/** What the caller is to do next. It only performs; the machine makes every decision. */
export type Command =
  | { readonly kind: 'take' }
  | { readonly kind: 'raise_gate'; readonly epoch: number }
  | { readonly kind: 'drain'; readonly epoch: number }
  | { readonly kind: 'inspect'; readonly checkpoint: Checkpoint }
  /** Makes the filter hold every id stored at offsets below `below`. */
  | { readonly kind: 'warm_filter'; readonly below: number }
  | { readonly kind: 'fetch'; readonly from: number; readonly catalogVersionMin: number }
  | { readonly kind: 'refetch'; readonly from: number; readonly intent: Intent }
  | {
      readonly kind: 'look_up';
      readonly idHashes: readonly string[];
      readonly below: number;
      /** When the log appended the batch: an id that comes again does so soon, most often. */
      readonly appendedAtMs: InstantMs;
    }
  | {
      readonly kind: 'check_presence';
      readonly range: BatchRange;
      readonly appendedAtMs: InstantMs;
    }
  /** Reads the newest catalog, and none that is older than this version. */
  | {
      readonly kind: 'load_catalog';
      readonly versionMin: number;
      /** Whether meters shall not change for a moment, since the batch was refused before. */
      readonly isToBeHeld: boolean;
    }
  | {
      readonly kind: 'intend';
      readonly epoch: number;
      readonly start: number;
      readonly intent: Intent;
      /** Replaces the standing intent of the same range, of which no part exists. */
      readonly isReplacement: boolean;
    }
  | {
      /** Sends one insert for each of these tables, side by side, and waits for all of them. */
      readonly kind: 'insert';
      readonly epoch: number;
      readonly batch: Batch;
      readonly tables: readonly BatchTable[];
    }
  | {
      readonly kind: 'finish';
      readonly epoch: number;
      readonly start: number;
      readonly end: number;
      readonly rows: number;
      readonly appendedAtMs: InstantMs;
    }
  | { readonly kind: 'reread' }
  | { readonly kind: 'remember'; readonly batch: Batch }
  | { readonly kind: 'halt'; readonly reason: HaltReason }
  | { readonly kind: 'step_down' };

export type CommandOf<Kind extends Command['kind']> = Extract<Command, { readonly kind: Kind }>;
/** The commands that have an outcome: all but those that end a run. */
export type Performed = Exclude<Command, CommandOf<'halt' | 'step_down'>>;

/**
 * What happened. `unknown` stands for every answer that leaves the outcome open: time-out, reset,
 * error.
 */
export type Outcome =
  | { readonly kind: 'taken'; readonly checkpoint: Checkpoint }
  | { readonly kind: 'gate_raised'; readonly highestEpoch: number }
  | { readonly kind: 'drained' }
  | { readonly kind: 'inspected'; readonly inspection: Inspection }
  | { readonly kind: 'filter_warm' }
  | {
      readonly kind: 'fetched';
      readonly records: readonly DecodedRecord[];
      readonly catalog: Catalog;
    }
  /** The log, as it is now, does not have the offset that was to be read. */
  | {
      readonly kind: 'not_in_log';
      readonly offset: number;
      readonly logStart: number;
      readonly logEnd: number;
    }
  | { readonly kind: 'looked_up'; readonly seen: ReadonlyMap<string, StoredId> }
  | { readonly kind: 'presence'; readonly presence: Presence }
  | { readonly kind: 'catalog_loaded'; readonly catalog: Catalog }
  | { readonly kind: 'written' }
  | { readonly kind: 'refused'; readonly checkpoint: Checkpoint }
  | { readonly kind: 'reread'; readonly checkpoint: Checkpoint }
  | { readonly kind: 'inserted' }
  /** The server has refused these tables of an insert before it wrote; the others are written. */
  | { readonly kind: 'not_written'; readonly tables: readonly BatchTable[] }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'remembered' }
  | { readonly kind: 'unknown' };

/** A batch whose ids are being looked up, or that waits for its presence check. */
export type Draft = {
  readonly records: readonly DecodedRecord[];
  readonly catalog: Catalog;
  readonly end: number;
};

/**
 * A batch that is ready to be intended. Its usage is not folded yet: until the intent is written, a
 * newer catalog may take the place of the draft's, and nothing else of it changes.
 */
export type PreparedBatch = {
  readonly draft: Draft;
  /** Those of its ids that were counted below it. */
  readonly seen: ReadonlyMap<string, StoredId>;
  readonly range: BatchRange;
  readonly folded: FoldedRecords;
  readonly encoded: EncodedRecords;
  readonly digest: string;
};

type IntendedBatch = {
  readonly checkpoint: Checkpoint;
  readonly prepared: PreparedBatch;
  /** Whether its intent was refused before, because of a newer catalog. */
  readonly wasRefused: boolean;
};

/** Where the owner of a partition stands; each phase names the command that is under way. */
export type State =
  | { readonly phase: 'taking' }
  | { readonly phase: 'gating'; readonly checkpoint: Checkpoint }
  | { readonly phase: 'draining'; readonly checkpoint: Checkpoint }
  | { readonly phase: 'inspecting'; readonly checkpoint: Checkpoint }
  | { readonly phase: 'warming'; readonly checkpoint: Checkpoint }
  | { readonly phase: 'fetching'; readonly checkpoint: Checkpoint }
  | {
      readonly phase: 'refetching';
      readonly checkpoint: Checkpoint;
      readonly intent: Intent;
    }
  | {
      readonly phase: 'looking_up';
      readonly checkpoint: Checkpoint;
      readonly intent: Intent | null;
      readonly draft: Draft;
    }
  | {
      readonly phase: 'checking_presence';
      readonly checkpoint: Checkpoint;
      readonly intent: Intent;
      readonly prepared: PreparedBatch;
    }
  | ({ readonly phase: 'intending' } & IntendedBatch)
  | ({ readonly phase: 'rereading_intent' } & IntendedBatch)
  | {
      readonly phase: 'loading_catalog';
      readonly checkpoint: Checkpoint;
      readonly prepared: PreparedBatch;
    }
  | {
      readonly phase: 'inserting';
      readonly checkpoint: Checkpoint;
      readonly batch: Batch;
      /** Tables still to be written; those of the first stage are under way. */
      readonly remaining: readonly BatchTable[];
    }
  | { readonly phase: 'finishing'; readonly checkpoint: Checkpoint; readonly batch: Batch }
  | { readonly phase: 'rereading_finish'; readonly checkpoint: Checkpoint; readonly batch: Batch }
  | { readonly phase: 'remembering'; readonly checkpoint: Checkpoint; readonly batch: Batch }
  | {
      readonly phase: 'confirming_halt';
      readonly checkpoint: Checkpoint;
      readonly reason: HaltReason;
    }
  | { readonly phase: 'halted'; readonly reason: HaltReason }
  | { readonly phase: 'lost' };

export type Phase = State['phase'];
/** The state in a phase. */
export type StateIn<In extends Phase> = Extract<State, { readonly phase: In }>;

/** The command that is under way in each phase. */
export const COMMAND_IN = {
  taking: 'take',
  gating: 'raise_gate',
  draining: 'drain',
  inspecting: 'inspect',
  warming: 'warm_filter',
  fetching: 'fetch',
  refetching: 'refetch',
  looking_up: 'look_up',
  checking_presence: 'check_presence',
  intending: 'intend',
  rereading_intent: 'reread',
  loading_catalog: 'load_catalog',
  inserting: 'insert',
  finishing: 'finish',
  rereading_finish: 'reread',
  remembering: 'remember',
  confirming_halt: 'reread',
  halted: 'halt',
  lost: 'step_down',
} as const satisfies Readonly<Record<Phase, Command['kind']>>;

/** The next state and what to do in it. */
export type Step = {
  readonly [In in Phase]: {
    readonly state: StateIn<In>;
    readonly command: CommandOf<(typeof COMMAND_IN)[In]>;
  };
}[Phase];

/** Constants of the machine of one partition. */
export type MachineSettings = BatchBounds &
  InsertBounds & {
    readonly logId: string;
    readonly partition: number;
    /** 64 hexadecimal digits of a cryptographic hash of the parts. */
    readonly digestOf: (parts: readonly DigestPart[]) => string;
  };
