import { noteCounted, type CountedPorts } from '../../../aggregator/data-until/note-counted.js';
import { ReceivedMarks } from '../../../aggregator/data-until/received-marks.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { HeldRequests } from '../../../ingest/held/held-requests.js';
import { reportHeld, type IngestRegister } from '../../../ingest/held/report-held.js';
import { DependencyError } from '../../../runtime/failure.js';
import { createSeededRandom } from '../../harness/seeded-random.js';
import { SILENT_MAX_MS, SpoiltRequests, type Mutation } from './spoilt-requests.js';

const PARTITIONS = [0, 1] as const;

type Owner = { state: 'running' | 'stopped' | 'dead' };

/** A question on its way: what it does where it arrives, then what its sender learns. */
type Message = {
  readonly owner: Owner;
  readonly arrive: () => void;
  readonly answer: () => void;
  readonly lose: () => void;
  hasArrived: boolean;
  /** Whether it waits while many others pass. */
  readonly isSlow: boolean;
};

type Row = { heldSince: InstantMs; reportedAt: InstantMs };

type Ingest = Owner & {
  readonly id: number;
  readonly held: HeldRequests;
  readonly register: IngestRegister;
  isReporting: boolean;
  isEnding: boolean;
};

type Event = {
  readonly id: number;
  readonly owner: Owner;
  readonly partition: number;
  readonly receivedAtMs: InstantMs;
  /** Its place in the log; null while it is not there. */
  offset: number | null;
  isAnswered: boolean;
  /** The latest instant that was noted while it was received before that and not counted. */
  missedBy: InstantMs | null;
};

/** A message was lost, before or after it had arrived. */
const lost = (): DependencyError =>
  new DependencyError('lost', { dependency: 'postgres', isRetryable: true });

/**
 * Processes of ingest, of which each step may be delayed, stopped, lost or the last one, a log, and
 * what counts it, all by the code that runs. The clocks of all servers agree.
 */
export class ReceivedWorld {
  /** The noted instant; null before the first. */
  noted: InstantMs | null = null;
  readonly events: Event[] = [];
  /** An event that was answered 202, and was missing below a noted instant. */
  wrong: string | null = null;
  /** How often something new was noted, and the least time by which it lagged. */
  notes = 0;
  leastLagMs = Number.POSITIVE_INFINITY;

  #nowMs: InstantMs = 1_000;
  readonly #random;
  readonly #messages = new Set<Message>();
  readonly #rows = new Map<number, Row>();
  readonly #log: Event[][] = PARTITIONS.map(() => []);
  readonly #finished: number[] = PARTITIONS.map(() => 0);
  readonly #ingests: Ingest[] = [];
  readonly #counter: Owner = { state: 'running' };
  #marks = new ReceivedMarks();
  #isNoting = false;

  constructor(
    seed: number,
    private readonly without: Mutation | null,
  ) {
    this.#random = createSeededRandom(seed);
    this.#start();
    this.#start();
  }

  async walk(steps: number): Promise<void> {
    for (let step = 0; step < steps && this.wrong === null; step += 1) {
      this.#step();
      // What follows from an answer happens at once, as far as it need not be sent.
      for (let turn = 0; turn < 12; turn += 1) await Promise.resolve();
    }
  }

  #step(): void {
    const random = this.#random;
    const kind = random.below(100);
    if (kind < 56) this.#pass();
    else if (kind < 68) this.#wait();
    else if (kind < 76) this.#receive();
    else if (kind < 84) this.#count();
    else if (kind < 91) this.#report();
    else if (kind < 97) this.#note();
    else this.#disturb();
  }

  /** One message arrives, or the answer to it does; an answer needs a process that runs. */
  #pass(): void {
    const ready = [...this.#messages].filter(
      ({ hasArrived, owner, isSlow }) =>
        (!hasArrived || owner.state === 'running') && (!isSlow || this.#random.chance(0.04)),
    );
    if (ready.length === 0) return;
    const message = this.#random.pick(ready);
    if (this.#random.chance(0.03) && message.owner.state === 'running') {
      this.#messages.delete(message);
      if (this.#random.chance(0.5) && !message.hasArrived) message.arrive();
      message.lose();
    } else if (message.hasArrived) {
      this.#messages.delete(message);
      message.answer();
    } else {
      message.hasArrived = true;
      message.arrive();
    }
    for (const gone of this.#messages) {
      if (gone.hasArrived && gone.owner.state === 'dead') this.#messages.delete(gone);
    }
  }

  #wait(): void {
    const random = this.#random;
    this.#nowMs += random.chance(0.03) ? random.between(50, 500) : random.between(0, 12);
    for (const ingest of this.#running()) if (random.chance(0.5)) ingest.held.giveUpLate();
  }

  #running(): Ingest[] {
    return this.#ingests.filter(({ state }) => state === 'running');
  }

  #isSlow(): boolean {
    return this.#random.chance(0.2);
  }

  /** Something that the process does by itself, when it comes to it. */
  #come(owner: Owner): Promise<void> {
    return new Promise((resolve, reject) => {
      const lose = (): void => reject(lost());
      const nothing = (): void => undefined;
      this.#messages.add({
        owner,
        hasArrived: true,
        isSlow: this.#isSlow(),
        arrive: nothing,
        answer: resolve,
        lose,
      });
    });
  }

  #send<T>(owner: Owner, work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let result: T;
      this.#messages.add({
        owner,
        hasArrived: false,
        isSlow: this.#isSlow(),
        arrive: () => {
          result = work();
        },
        answer: () => resolve(result),
        lose: () => reject(lost()),
      });
    });
  }

  #start(): void {
    const id = this.#ingests.length;
    const owner: Owner = { state: 'running' };
    const held = new SpoiltRequests(this.without, () => this.#nowMs);
    const register: IngestRegister = {
      report: (since) =>
        this.#send(ingest, () => {
          const heldSince = Math.max(since, this.#rows.get(id)?.heldSince ?? since);
          this.#rows.set(id, { heldSince, reportedAt: this.#nowMs });
        }),
      leave: () => this.#send(ingest, () => void this.#rows.delete(id)),
    };
    const ingest = Object.assign(owner, {
      id,
      held,
      register,
      isReporting: false,
      isEnding: false,
    });
    this.#ingests.push(ingest);
  }

  /** The next report, if the one before has ended; it leaves when all of it is over. */
  #report(): void {
    const running = this.#running().filter(({ isReporting }) => !isReporting);
    if (running.length === 0) return;
    const ingest = this.#random.pick(running);
    const { held, register, isEnding } = ingest;
    ingest.isReporting = true;
    const mayLeave = isEnding && (held.isIdle || this.without === 'leaves_holding');
    const done = (): void => {
      ingest.isReporting = mayLeave;
      if (mayLeave && held.isIdle) ingest.state = 'dead';
    };
    (mayLeave ? register.leave() : reportHeld(held, register)).then(done, done);
  }

  #receive(): void {
    const running = this.#running().filter(({ isEnding }) => !isEnding);
    if (running.length === 0) return;
    const owner = this.#random.pick(running);
    const { held } = owner;
    if (!held.isReporting) return;
    const receivedAtMs = held.now();
    const partition = this.#random.pick(PARTITIONS);
    const event: Event = {
      id: this.events.length,
      owner,
      partition,
      receivedAtMs,
      offset: null,
      isAnswered: false,
      missedBy: null,
    };
    this.events.push(event);
    const request = held.hold(receivedAtMs, () => undefined);
    const append = (): void => {
      const log = this.#log[partition] ?? [];
      event.offset = log.length;
      log.push(event);
    };
    // It waits for a commit of its own process first.
    this.#come(owner)
      .then(() => this.#send(owner, append))
      .then(
        () => {
          event.isAnswered = held.acknowledge(request);
          this.#judge(event);
        },
        () => held.giveUp(request),
      );
  }

  #count(): void {
    const partition = this.#random.pick(PARTITIONS);
    const [end, from] = [this.#log[partition]?.length ?? 0, this.#finished[partition] ?? 0];
    this.#finished[partition] = this.#random.chance(0.5) ? end : this.#random.between(from, end);
  }

  #note(): void {
    if (this.#isNoting) return;
    this.#isNoting = true;
    const done = (): void => {
      this.#isNoting = false;
    };
    noteCounted(this.#marks, this.#ports()).then(done, done);
  }

  #ports(): CountedPorts {
    const ends = (): readonly number[] =>
      this.#log.map((log) => {
        if (this.without !== 'counts_own_records_only') return log.length;
        return (
          log.findLastIndex(({ isAnswered, owner }) => isAnswered && owner.state === 'running') + 1
        );
      });
    const early = this.without === 'ends_before_reports' ? ends() : null;
    return {
      read: () =>
        this.#send(this.#counter, () => {
          const alive = [...this.#rows.values()].filter(
            ({ reportedAt }) => reportedAt > this.#nowMs - SILENT_MAX_MS,
          );
          const since = Math.min(...alive.map(({ heldSince }) => heldSince));
          return { heldSince: alive.length === 0 ? null : since, finished: [...this.#finished] };
        }),
      ends: () =>
        this.#send(this.#counter, () => {
          const [first = 0, second = 0] = early ?? ends();
          return [first, this.without === 'forgets_a_partition' ? 0 : second];
        }),
      note: (receivedBefore) => this.#send(this.#counter, () => this.#noted(receivedBefore)),
    };
  }

  /** From here on a reader may be told the instant. */
  #noted(receivedBefore: InstantMs): void {
    if (receivedBefore <= (this.noted ?? Number.NEGATIVE_INFINITY)) return;
    this.noted = receivedBefore;
    this.notes += 1;
    this.leastLagMs = Math.min(this.leastLagMs, this.#nowMs - receivedBefore);
    for (const event of this.events) {
      const finished = this.#finished[event.partition] ?? 0;
      const isCounted = event.offset !== null && event.offset < finished;
      if (event.receivedAtMs >= receivedBefore || isCounted) continue;
      event.missedBy = receivedBefore;
      this.#judge(event);
    }
  }

  #judge({ id, isAnswered, missedBy, receivedAtMs }: Event): void {
    if (!isAnswered || missedBy === null) return;
    this.wrong ??= `event ${id}, received at ${receivedAtMs}, is missing before ${missedBy}`;
  }

  /** Starts, stops, wakes, ends and kills processes; the one that notes begins anew. */
  #disturb(): void {
    const random = this.#random;
    const alive = this.#ingests.filter(({ state }) => state !== 'dead');
    const ingest = random.chance(0.5) ? alive.find(({ state }) => state === 'stopped') : undefined;
    if (ingest !== undefined) ingest.state = 'running';
    else if (this.#counter.state === 'stopped') this.#counter.state = 'running';
    else if (random.chance(0.1)) this.#counter.state = 'stopped';
    else if (random.chance(0.05)) this.#marks = new ReceivedMarks();
    else if (alive.length < 3) this.#start();
    else {
      const disturbed = random.pick(alive);
      const what = random.below(10);
      if (what < 4) disturbed.state = 'stopped';
      else if (what < 9) disturbed.isEnding = true;
      else disturbed.state = 'dead';
    }
  }
}
