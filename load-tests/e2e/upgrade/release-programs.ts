import { setTimeout as delay } from 'node:timers/promises';
import { startProgram, waitUntilReady, type StartedProgram } from '../../harness/start-program.js';

const PROGRAMS = ['ingest', 'aggregator', 'billing-api'] as const;
export type ProgramName = (typeof PROGRAMS)[number];
export type Release = 'before' | 'this';

type Run = {
  readonly name: ProgramName;
  readonly release: Release;
  readonly program: StartedProgram;
};

const WATCH_MS = 200;
/** Of requests that were sent before the program left the list. */
const LAST_ANSWERS_MS = 500;

/** Programs of two releases on one set of stores, and which of them a client may ask. */
export class ReleasePrograms {
  /** What an aggregator said of itself when a partition halted. */
  readonly halted: string[] = [];
  readonly #runs = new Set<Run>();
  readonly #watch: NodeJS.Timeout;

  constructor(
    private readonly servers: Readonly<Record<string, string>>,
    private readonly rootOfBefore: string,
    private readonly rootOfThis: string,
  ) {
    this.#watch = setInterval(() => void this.#look(), WATCH_MS);
  }

  /** Addresses of the running programs of a kind. */
  running(name: ProgramName): readonly string[] {
    return [...this.#runs].filter((run) => run.name === name).map(({ program }) => program.url);
  }

  /** What `/readyz` of each running program answers, by release and name. */
  async readiness(): Promise<readonly string[]> {
    const runs = [...this.#runs].sort(
      (a, b) => PROGRAMS.indexOf(a.name) - PROGRAMS.indexOf(b.name),
    );
    const asked = runs.map(async ({ release, name, program }) => {
      const { status } = await fetch(`${program.operationsUrl}/readyz`);
      return `${release} ${name}: ${status}`;
    });
    return Promise.all(asked);
  }

  async start(release: Release, name: ProgramName): Promise<Run> {
    const root = release === 'before' ? this.rootOfBefore : this.rootOfThis;
    const settings = { ...this.servers, MINUTEBOOK_LOG_LEVEL: 'error' };
    const program = await startProgram(name, settings, root);
    await waitUntilReady(program.url);
    const run = { name, release, program };
    this.#runs.add(run);
    return run;
  }

  async startAll(release: Release): Promise<Readonly<Record<ProgramName, Run>>> {
    const [ingest, aggregator, billingApi] = await Promise.all(
      PROGRAMS.map((name) => this.start(release, name)),
    );
    if (ingest === undefined || aggregator === undefined || billingApi === undefined) {
      throw new Error('three programs were started');
    }
    return { ingest, aggregator, 'billing-api': billingApi };
  }

  /** As a load balancer and a supervisor: no further request, then SIGTERM. */
  async stop(run: Run): Promise<void> {
    this.#runs.delete(run);
    await delay(LAST_ANSWERS_MS);
    await run.program.stop();
  }

  /** Until the aggregator has taken partitions from those that ran before. */
  async waitUntilOwning({ program }: Run): Promise<void> {
    for (;;) {
      const epochs = await program.metric('minutebook_partition_epoch');
      if ([...epochs.values()].some((epoch) => epoch > 0)) return;
      await delay(50);
    }
  }

  async stopAll(): Promise<void> {
    clearInterval(this.#watch);
    await Promise.all([...this.#runs].map(({ program }) => program.stop()));
    this.#runs.clear();
  }

  async #look(): Promise<void> {
    for (const { name, release, program } of this.#runs) {
      if (name !== 'aggregator') continue;
      const halted = await program.metric('minutebook_partitions_halted').catch(() => new Map());
      if ((halted.get('{}') ?? 0) > 0) this.halted.push(`an aggregator of ${release}`);
    }
  }
}
