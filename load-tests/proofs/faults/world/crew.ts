import type { Program } from '../engines/program.js';
import type { CrashPoint, World } from './world.js';

const TEND_MS = 150;

type Place = { program: Program; wakesAtMs: number };

/**
 * Keeps a product running as a supervisor would: what ended is started again, at the earliest when
 * the fault that ended it is over.
 */
export class Crew {
  readonly #aggregators = new Set<Place>();
  #ingest: Place | null = null;
  #timer: NodeJS.Timeout | null = null;
  #tending: Promise<void> = Promise.resolve();

  constructor(private readonly world: World) {}

  async start(aggregators: number): Promise<void> {
    this.#ingest = { program: await this.world.startIngest(), wakesAtMs: 0 };
    for (let count = 0; count < aggregators; count += 1) this.join();
    this.#timer = setInterval(() => {
      this.#tending = this.#tending.then(() => this.#tend());
    }, TEND_MS);
  }

  /** Aggregators that somebody may be cruel to. */
  get aggregators(): readonly Place[] {
    return [...this.#aggregators];
  }

  /** One more aggregator. */
  join(): void {
    this.#aggregators.add({ program: this.world.startAggregator(), wakesAtMs: 0 });
  }

  /** One more that ends at a step; a common one takes its place afterwards. */
  joinDoomed(crash: CrashPoint): Program {
    const program = this.world.startDoomedAggregator(crash);
    this.#aggregators.add({ program, wakesAtMs: 0 });
    return program;
  }

  /** SIGTERM, for good. */
  async leave(place: Place): Promise<void> {
    this.#aggregators.delete(place);
    await place.program.stop();
  }

  async kill(place: Place, downMs: number): Promise<void> {
    place.wakesAtMs = Date.now() + downMs;
    await place.program.kill();
  }

  async killIngest(downMs: number): Promise<void> {
    if (this.#ingest !== null) await this.kill(this.#ingest, downMs);
  }

  /** No more restarts. */
  async dismiss(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#tending;
  }

  async #tend(): Promise<void> {
    const isDown = (place: Place): boolean =>
      !place.program.isRunning && place.wakesAtMs <= Date.now();
    if (this.#ingest !== null && isDown(this.#ingest)) {
      this.#ingest.program = await this.world.startIngest();
    }
    for (const place of this.#aggregators) {
      if (isDown(place)) place.program = this.world.startAggregator();
    }
  }
}
