import { decodeRecord, type HashText } from '../fold/candidate.js';
import type { BatchRange, BatchTable } from '../fold/encode-rows.js';
import type { StoredId } from '../fold/separate-repeats.js';
import { FIRST_STEP, nextStep } from './machine.js';
import type {
  Catalog,
  Checkpoint,
  Command,
  Outcome,
  Presence,
  Step,
  Surroundings,
} from './state.js';

/** What may go wrong in a world, each with its chance per step; 0 switches it off. */
export type Dangers = {
  readonly crash: number;
  readonly insertTimeout: number;
  readonly lostReply: number;
};

/** Parts of the protocol that a world can leave out, to show that its checks would notice. */
export type Mutation =
  | 'no_gate'
  | 'no_drain'
  | 'no_presence_check'
  | 'no_bound_below_batch'
  | 'no_epoch_guard'
  | 'no_pending_guard'
  | 'marks_before_write';

type Insert = {
  readonly command: Extract<Command, { kind: 'insert' }>;
  /** The process that waits for the answer, or null when it gave up or died. */
  waiting: SimulatedOwner | null;
  hasStarted: boolean;
};
type Write = Extract<Command, { kind: 'intend' | 'finish' }>;
type Question = Exclude<Command, { kind: 'insert' | 'intend' | 'finish' | 'halt' | 'step_down' }>;
type Part = { readonly range: BatchRange; readonly rows: readonly (readonly unknown[])[] };

/** One process that owns, or believes to own, the partition. */
export type SimulatedOwner = { step: Step; isWaiting: boolean; filter: Set<string> };

const NOTHING_YET: Checkpoint = {
  epoch: 0,
  nextOffset: 0,
  pending: null,
  minVersion: 1,
  catalogVersion: 1,
  lastBatch: null,
};

/**
 * One partition with its log, Postgres row and ClickHouse tables, and processes that run the
 * production machine. Requests whose sender has given up stay under way and land at any later time,
 * as they do in life.
 */
export class SimulatedWorld {
  checkpoint: Checkpoint = NOTHING_YET;
  gate = 0;
  readonly parts: Record<BatchTable, Part[]> = {
    events: [],
    ids: [],
    usage: [],
    repeats: [],
    deadLetters: [],
  };
  readonly owners: SimulatedOwner[];
  readonly #inserts: Insert[] = [];
  readonly #lateWrites: Write[] = [];

  constructor(
    private readonly facts: {
      readonly surroundings: Surroundings;
      readonly log: readonly string[];
      readonly catalog: Catalog;
      readonly hashText: HashText;
      readonly mutations: readonly Mutation[];
      readonly random: () => number;
      readonly owners: number;
    },
  ) {
    this.owners = Array.from({ length: facts.owners }, () => ({
      step: FIRST_STEP,
      isWaiting: false,
      filter: new Set<string>(),
    }));
  }

  /** Lets one thing happen: a process acts, a request lands, something breaks. */
  advance(dangers: Dangers): void {
    const choice = Math.floor(this.facts.random() * (this.owners.length + 2));
    if (choice === this.owners.length) return this.#advanceServer();
    if (choice > this.owners.length) return this.#landLateWrite();
    const owner = this.owners[choice];
    if (owner === undefined) return;
    if (this.facts.random() < dangers.crash) return this.#restart(owner);
    if (owner.isWaiting) return this.#maybeGiveUp(owner, dangers);
    this.#perform(owner, dangers);
  }

  /** Lets all processes but the first die, so that the survivor is not fenced any more. */
  leaveOneOwner(): void {
    for (const owner of this.owners.splice(1)) this.#restart(owner);
  }

  get isFinished(): boolean {
    return this.checkpoint.nextOffset === this.facts.log.length && this.checkpoint.pending === null;
  }

  #has(mutation: Mutation): boolean {
    return this.facts.mutations.includes(mutation);
  }

  #restart(owner: SimulatedOwner): void {
    for (const insert of this.#inserts) if (insert.waiting === owner) insert.waiting = null;
    owner.step = FIRST_STEP;
    owner.isWaiting = false;
    owner.filter = new Set();
  }

  #tell(owner: SimulatedOwner, outcome: Outcome): void {
    owner.isWaiting = false;
    owner.step = nextStep(this.facts.surroundings, owner.step.state, outcome);
  }

  #maybeGiveUp(owner: SimulatedOwner, dangers: Dangers): void {
    if (this.facts.random() >= dangers.insertTimeout) return;
    for (const insert of this.#inserts) if (insert.waiting === owner) insert.waiting = null;
    this.#tell(owner, { kind: 'unknown' });
  }

  #advanceServer(): void {
    const index = Math.floor(this.facts.random() * this.#inserts.length);
    const insert = this.#inserts[index];
    if (insert === undefined) return;
    const { epoch, table, range, text } = insert.command;
    if (!insert.hasStarted && (this.#has('no_gate') || epoch >= this.gate)) {
      insert.hasStarted = true;
      return;
    }
    this.#inserts.splice(index, 1);
    if (!insert.hasStarted) {
      if (insert.waiting !== null) this.#tell(insert.waiting, { kind: 'fenced' });
      return;
    }
    const lines = text.split('\n').slice(0, -1);
    this.parts[table].push({ range, rows: lines.map((line): unknown[] => JSON.parse(line)) });
    if (insert.waiting !== null) this.#tell(insert.waiting, { kind: 'inserted' });
  }

  #landLateWrite(): void {
    const write = this.#lateWrites.shift();
    if (write !== undefined) this.#write(write);
  }

  #write(command: Write): boolean {
    const row = this.checkpoint;
    const isEpoch = row.epoch === command.epoch || this.#has('no_epoch_guard');
    if (!isEpoch || row.nextOffset !== command.start) return false;
    return command.kind === 'finish' ? this.#finish(command) : this.#intend(command);
  }

  #finish(command: Extract<Write, { kind: 'finish' }>): boolean {
    if (this.checkpoint.pending?.end !== command.end) return false;
    const lastBatch = { start: command.start, rows: command.rows };
    this.checkpoint = {
      ...this.checkpoint,
      nextOffset: command.end,
      pending: null,
      lastBatch,
    };
    return true;
  }

  #intend(command: Extract<Write, { kind: 'intend' }>): boolean {
    const row = this.checkpoint;
    const isFree = (row.pending === null) !== command.isReplacement;
    if (!isFree && !this.#has('no_pending_guard')) return false;
    const { catalogVersion } = command.intent;
    if (catalogVersion < Math.max(row.minVersion, row.catalogVersion)) return false;
    this.checkpoint = { ...row, pending: command.intent, catalogVersion };
    return true;
  }

  #perform(owner: SimulatedOwner, dangers: Dangers): void {
    const { command } = owner.step;
    if (command.kind === 'step_down' || command.kind === 'halt') {
      // One that was fenced stays away for a while; without the pause owners would only fence each
      // other.
      if (this.facts.random() < 0.05) this.#restart(owner);
      return;
    }
    if (command.kind === 'insert') {
      this.#inserts.push({ command, waiting: owner, hasStarted: false });
      owner.isWaiting = true;
      return;
    }
    if (command.kind === 'intend' || command.kind === 'finish') {
      const isReplyLost = this.facts.random() < dangers.lostReply;
      if (isReplyLost) {
        if (this.facts.random() < 0.5) this.#write(command);
        else this.#lateWrites.push(command);
        return this.#tell(owner, { kind: 'unknown' });
      }
      const isWritten = this.#write(command);
      const { checkpoint } = this;
      return this.#tell(owner, isWritten ? { kind: 'written' } : { kind: 'refused', checkpoint });
    }
    this.#tell(owner, this.#answer(owner, command));
  }

  #take(): Outcome {
    const epoch = Math.max(this.checkpoint.epoch, this.gate) + 1;
    this.checkpoint = { ...this.checkpoint, epoch };
    return { kind: 'taken', checkpoint: this.checkpoint };
  }

  #drain(epoch: number): Outcome {
    if (this.#has('no_drain')) return { kind: 'drained' };
    for (let index = this.#inserts.length - 1; index >= 0; index -= 1) {
      const insert = this.#inserts[index];
      if (insert === undefined || !insert.hasStarted || insert.command.epoch >= epoch) continue;
      this.#inserts.splice(index, 1);
      if (insert.waiting !== null) this.#tell(insert.waiting, { kind: 'unknown' });
    }
    return { kind: 'drained' };
  }

  // One case a command: splitting the list would only hide that it is complete.
  // eslint-disable-next-line complexity
  #answer(owner: SimulatedOwner, command: Question): Outcome {
    switch (command.kind) {
      case 'take':
        return this.#take();
      case 'raise_gate':
        this.gate = Math.max(this.gate, command.epoch);
        return { kind: 'gate_raised', highestEpoch: this.gate };
      case 'drain':
        return this.#drain(command.epoch);
      case 'inspect':
        return this.#inspect();
      case 'warm_filter':
        owner.filter = new Set(this.#storedIds(Number.POSITIVE_INFINITY).keys());
        return { kind: 'filter_warm' };
      case 'fetch':
        return this.#fetch(command.from, this.facts.log.length);
      case 'refetch':
        return this.#fetch(command.from, command.intent.end);
      case 'look_up':
        return this.#lookUp(owner, command);
      case 'check_presence':
        return { kind: 'presence', presence: this.#presence(command.range) };
      case 'reread':
        return { kind: 'reread', checkpoint: this.checkpoint };
      case 'remember':
        for (const { idHash } of command.batch.folded.unique) owner.filter.add(idHash);
        return { kind: 'remembered' };
    }
  }

  #fetch(from: number, end: number): Outcome {
    const size =
      end === this.facts.log.length ? 1 + Math.floor(this.facts.random() * 3) : end - from;
    const values = this.facts.log.slice(from, Math.min(end, from + size));
    const records = values.map((value, index) =>
      decodeRecord({ offset: from + index, appendedAtMs: 0, value }, this.facts.hashText),
    );
    return { kind: 'fetched', records, catalog: this.facts.catalog };
  }

  /**
   * Column 2 of an id row is the hash, column 3 the offset, 5 to 7 what a repeat is compared with.
   */
  #storedIds(below: number): Map<string, StoredId> {
    const rows = this.parts.ids.flatMap((part) => part.rows);
    const seen = new Map<string, StoredId>();
    for (const row of rows) {
      if (Number(row[3]) >= below) continue;
      seen.set(String(row[2]), {
        payloadHash: String(row[5]),
        timestampMs: Number(row[6]),
        isTimestampGiven: row[7] === true,
      });
    }
    return seen;
  }

  #lookUp(owner: SimulatedOwner, command: Extract<Command, { kind: 'look_up' }>): Outcome {
    const below = this.#has('no_bound_below_batch') ? Number.POSITIVE_INFINITY : command.below;
    const stored = this.#storedIds(below);
    const seen = new Map<string, StoredId>();
    for (const idHash of command.idHashes) {
      const row = stored.get(idHash);
      const isMarked = this.#has('marks_before_write') && owner.filter.has(idHash);
      if (row !== undefined && owner.filter.has(idHash)) seen.set(idHash, row);
      else if (isMarked) {
        seen.set(idHash, { payloadHash: '', timestampMs: 0, isTimestampGiven: false });
      }
      if (this.#has('marks_before_write')) owner.filter.add(idHash);
    }
    return { kind: 'looked_up', seen };
  }

  #presence(range: BatchRange): Presence {
    if (this.#has('no_presence_check')) return { events: 0, ids: 0, marker: 0 };
    const rowsIn = (table: BatchTable, column: number): number =>
      this.parts[table]
        .flatMap((part) => part.rows)
        .filter((row) => Number(row[column]) >= range.start && Number(row[column]) < range.end)
        .length;
    const marker = this.parts.usage
      .flatMap((part) => part.rows)
      .filter((row) => row[3] === '#batch' && row[7] === `${range.start}:${range.end}`).length;
    return { events: rowsIn('events', 13), ids: rowsIn('ids', 3), marker };
  }

  #inspect(): Outcome {
    const { pending, nextOffset, lastBatch } = this.checkpoint;
    const beyond = pending?.end ?? nextOffset;
    const offsets = [
      ...this.parts.events.flatMap((part) => part.rows.map((row) => Number(row[13]))),
      ...this.parts.ids.flatMap((part) => part.rows.map((row) => Number(row[3]))),
    ];
    const last =
      lastBatch === null
        ? null
        : this.#presence({ ...this.facts.surroundings, start: lastBatch.start, end: nextOffset });
    return {
      kind: 'inspected',
      inspection: {
        rowsBeyond: offsets.filter((offset) => offset >= beyond).length,
        lastBatch: last === null ? null : { rows: last.events, marker: last.marker },
        logStart: 0,
        logEnd: this.facts.log.length,
      },
    };
  }
}
