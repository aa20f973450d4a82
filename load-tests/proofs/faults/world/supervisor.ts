import type { Program } from '../engines/program.js';
import type { StopPoint, World } from './world.js';

const RESTART_POLL_MS = 150;

type Member = { program: Program; wakesAtMs: number };

/**
 * Keeps a product running as a supervisor would: what ended is started again, at the earliest when
 * the fault that ended it is over.
 */
export class Supervisor {
  readonly #aggregators = new Set<Member>();
  #ingest: Member | null = null;
  #timer: NodeJS.Timeout | null = null;
  #restarting: Promise<void> = Promise.resolve();

  constructor(private readonly world: World) {}

  async start(aggregators: number): Promise<void> {
    this.#ingest = { program: await this.world.startIngest(), wakesAtMs: 0 };
    for (let count = 0; count < aggregators; count += 1) this.join();
    this.#timer = setInterval(() => {
      this.#restarting = this.#restarting.then(() => this.#restartEnded());
    }, RESTART_POLL_MS);
  }

  /** Aggregators that a fault may hit. */
  get aggregators(): readonly Member[] {
    return [...this.#aggregators];
  }

  /** One more aggregator. */
  join(): void {
    this.#aggregators.add({ program: this.world.startAggregator(), wakesAtMs: 0 });
  }

  /** One more that ends at a step; a common one takes its place afterwards. */
  joinCrashing(stopPoint: StopPoint): Program {
    const program = this.world.startCrashingAggregator(stopPoint);
    this.#aggregators.add({ program, wakesAtMs: 0 });
    return program;
  }

  /** SIGTERM, for good. */
  async leave(place: Member): Promise<void> {
    this.#aggregators.delete(place);
    await place.program.stop();
  }

  async kill(place: Member, downMs: number): Promise<void> {
    place.wakesAtMs = Date.now() + downMs;
    await place.program.kill();
  }

  async killIngest(downMs: number): Promise<void> {
    if (this.#ingest !== null) await this.kill(this.#ingest, downMs);
  }

  /** No more restarts. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#restarting;
  }

  async #restartEnded(): Promise<void> {
    const isDown = (place: Member): boolean =>
      !place.program.isRunning && place.wakesAtMs <= Date.now();
    if (this.#ingest !== null && isDown(this.#ingest)) {
      this.#ingest.program = await this.world.startIngest();
    }
    for (const place of this.#aggregators) {
      if (isDown(place)) place.program = this.world.startAggregator();
    }
  }
}
