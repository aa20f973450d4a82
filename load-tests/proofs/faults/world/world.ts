import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiClient } from '../../../../cli/look/api-client.js';
import { createClickHouse, type ClickHouse } from '../../../../clickhouse/client.js';
import {
  EVENT_LOG_SETTINGS,
  openEventLogReader,
  openEventLogWriter,
  type EventLogConfig,
} from '../../../../event-log/open-log.js';
import type { EventLogReader, EventLogWriter } from '../../../../event-log/interface/event-log.js';
import { readConfig } from '../../../../runtime/config.js';
import { assertPresent } from '../../../../runtime/failure.js';
import { kafkaSettingsOf, type FaultEngines, type LogKind } from '../engines/fault-engines.js';
import { drawFreePort } from '../../../../runtime/port.js';
import { Program, type ProgramOrder } from '../engines/program.js';
import { Ledger } from '../load/ledger.js';
import type { IngestTarget } from '../load/send-load.js';
import { FIRST_METERS, type UsageMeter } from '../load/usage-meter.js';
import { activateMeter, makeFreshStores, type FreshStores } from './fresh-stores.js';
import { withPatientSession } from '../../../harness/patient-session.js';

/** What tells one run's product from another's. */
export type WorldOptions = {
  readonly engines: FaultEngines;
  readonly log: LogKind;
  /** Folder with `dist`, `sql` and `clickhouse` of the build under test. */
  readonly buildRoot: string;
  readonly partitions: number;
  readonly flushDelayMs: number;
  readonly batchEventsMax: number;
  /** Meters that exist before anything starts. */
  readonly meters?: readonly UsageMeter[];
  /** Ingest processes that clients know; one unless given. */
  readonly ingests?: number;
};

/** Where and how a crashing aggregator ends (crashing-aggregator.ts). */
export type StopPoint = {
  readonly step: string;
  readonly moment: 'before' | 'after';
  readonly act: 'kill' | 'freeze';
};

const PRODUCE_TIMEOUT_MS = 1_500;
const READY_TIMEOUT_MS = 60_000;

/** A product of our own in separate processes, on stores of its own. */
export class World {
  readonly ledger = new Ledger();
  readonly clickhouse: ClickHouse;
  readonly meters: UsageMeter[];
  /** What was made through the billing API: customers by `identityOf`, and meters. */
  readonly registered = { customers: new Set<string>(), meterIds: new Set<string>() };
  readonly #aggregators = new Set<Program>();
  readonly #sending = new AbortController();
  readonly #ingests: Program[] = [];
  #billingApi: Program | null = null;
  #reader: EventLogReader | null = null;
  #writer: EventLogWriter | null = null;

  private constructor(
    readonly options: WorldOptions,
    readonly stores: FreshStores,
    private readonly ports: { readonly ingest: readonly number[]; readonly billingApi: number },
  ) {
    this.clickhouse = createClickHouse(stores.clickhouseUrl);
    // Every request that waits listens to its end.
    setMaxListeners(0, this.#sending.signal);
    this.meters = [...(options.meters ?? FIRST_METERS)];
  }

  /** Makes the stores and their meters; no program runs yet. */
  static async make(options: WorldOptions): Promise<World> {
    const { engines, log, buildRoot } = options;
    const brokers = log === 'kafka' ? (engines.kafka.cluster?.brokers ?? null) : null;
    const stores = await makeFreshStores(engines, { buildRoot, brokers });
    const ingest = [];
    for (let count = 0; count < (options.ingests ?? 1); count += 1)
      ingest.push(await drawFreePort());
    const world = new World(options, stores, { ingest, billingApi: await drawFreePort() });
    for (const meter of world.meters) await activateMeter(stores.databaseUrl, meter);
    return world;
  }

  get ingestTarget(): IngestTarget {
    const { signal } = this.#sending;
    const urls = this.ports.ingest.map(addressOf);
    return { urls, apiKeys: this.stores.apiKeys, signal };
  }

  /** Aggregators that were started and not yet ended by us. */
  get aggregators(): readonly Program[] {
    return [...this.#aggregators].filter((program) => program.isRunning);
  }

  get ingest(): Program | null {
    return this.#ingests.at(-1) ?? null;
  }

  /** How programs ended that nobody had asked to; each is a finding, whatever the counts say. */
  get unexpectedEnds(): readonly string[] {
    return this.#programs.flatMap(({ unexpectedEnd }) => unexpectedEnd ?? []);
  }

  /** How often a program could not start because an engine was away, and was started again. */
  get restarts(): number {
    return this.#programs.reduce((sum, { restarts }) => sum + restarts, 0);
  }

  /** Why partitions stopped for an operator, in programs that are gone, too. */
  get haltReasons(): readonly string[] {
    return this.#programs.flatMap(({ haltReason }) => haltReason ?? []);
  }

  get #programs(): readonly Program[] {
    const billingApi = this.#billingApi === null ? [] : [this.#billingApi];
    return [...this.#ingests, ...this.#aggregators, ...billingApi];
  }

  /** What every program said, those that are gone included; for the search of causes. */
  get evidence(): string {
    return this.#programs.map(({ order, output }) => `=== ${order.name}\n${output}`).join('\n');
  }

  /**
   * Starts an ingest process and waits for it; a later call, after a kill, starts it at the same
   * address.
   */
  async startIngest(index = 0): Promise<Program> {
    const port = assertPresent(this.ports.ingest[index], 'the port of an ingest process');
    const program = this.#startServer('ingest', port);
    this.#ingests.push(program);
    await this.#whenUp(program, () => this.isIngestUp(index));
    return program;
  }

  isIngestUp(index = 0): Promise<boolean> {
    return isUp(this.ports.ingest[index] ?? 0);
  }

  /**
   * Starts the billing API and waits for it. @throws Error with its output when it does not start.
   */
  async startBillingApi(): Promise<void> {
    const { billingApi: port } = this.ports;
    const program = this.#startServer('billing-api', port);
    this.#billingApi = program;
    await this.#whenUp(program, () => isUp(port));
    if (!(await isUp(port))) throw new Error(`billing-api did not start: ${program.output}`);
  }

  get hasBillingApi(): boolean {
    return this.#billingApi !== null;
  }

  /** The billing API as a client of an environment calls it. */
  api(environment: number): ApiClient {
    const url = `${addressOf(this.ports.billingApi)}/v1`;
    return new ApiClient(url, this.stores.apiKeys[environment] ?? '');
  }

  startAggregator(): Program {
    return this.#startAggregator('aggregator/main', {});
  }

  /** One whose inserts have blocks of so many rows. */
  startAggregatorWithBlocks(blockRows: number): Program {
    return this.#startAggregator('load-tests/proofs/faults/crashing-aggregator', {
      arguments: ['--block-rows', String(blockRows)],
    });
  }

  /** One that dies or freezes at a step of the protocol. */
  startCrashingAggregator({ step, moment, act }: StopPoint): Program {
    return this.#startAggregator('load-tests/proofs/faults/crashing-aggregator', {
      arguments: ['--step', step, '--moment', moment, '--act', act],
      ...(act === 'kill' ? { lastWords: `at ${step}` } : {}),
    });
  }

  /** Creates a meter while events flow. */
  async addMeter(meter: UsageMeter): Promise<void> {
    await activateMeter(this.stores.databaseUrl, meter);
    this.meters.push(meter);
  }

  /**
   * Takes processes that were killed off the list of members, so that a test need not wait for
   * their silence to be noticed. Safety does not rest on the list.
   */
  async forgetDeadMembers(): Promise<void> {
    await withPatientSession(this.stores.databaseUrl, (session) =>
      session.query('DELETE FROM aggregator_members'),
    );
  }

  /** The log as it stands, read past the product's programs. */
  async logReader(): Promise<EventLogReader> {
    this.#reader ??= await openEventLogReader(this.#logConfig);
    return this.#reader;
  }

  /** The log as another program may write it. */
  async logWriter(): Promise<EventLogWriter> {
    this.#writer ??= await openEventLogWriter(this.#logConfig, false);
    return this.#writer;
  }

  get #logConfig(): EventLogConfig {
    const { engines, log, partitions } = this.options;
    const settings = {
      ...(log === 'kafka' ? kafkaSettingsOf(engines) : {}),
      MINUTEBOOK_LOG_PARTITIONS: String(partitions),
      MINUTEBOOK_PRODUCE_TIMEOUT_MS: String(PRODUCE_TIMEOUT_MS),
    };
    return {
      ...readConfig(EVENT_LOG_SETTINGS, settings),
      DATABASE_URL: this.stores.databaseUrl,
    };
  }

  /** Ends the programs and drops the stores. */
  async close(): Promise<void> {
    this.#sending.abort();
    await Promise.all(this.#programs.map((program) => program.kill()));
    await this.#writer?.close();
    await this.#reader?.close();
    await this.clickhouse.close();
    await this.stores.drop();
  }

  #startServer(name: 'ingest' | 'billing-api', port: number): Program {
    return new Program({
      name,
      module: this.#module(`${name}/main`),
      environment: {
        ...this.#environment(),
        MINUTEBOOK_PORT: String(port),
        MINUTEBOOK_TOKEN_SECRET: 'a secret for tests, of 32 characters',
      },
    });
  }

  async #whenUp(program: Program, isThere: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT_MS;
    while (program.isRunning && Date.now() < deadline) {
      if (await isThere()) return;
      await delay(20);
    }
  }

  #startAggregator(module: string, order: Pick<ProgramOrder, 'arguments' | 'lastWords'>): Program {
    const program = new Program({
      name: 'aggregator',
      module: this.#module(module),
      ...order,
      environment: this.#environment(),
    });
    this.#aggregators.add(program);
    return program;
  }

  #module(name: string): string {
    return join(this.options.buildRoot, 'dist', `${name}.js`);
  }

  #environment(): Record<string, string> {
    const { engines, log, partitions, flushDelayMs, batchEventsMax } = this.options;
    const { databaseUrl, clickhouseUrl } = this.stores;
    return {
      DATABASE_URL: engines.postgresProxy.address(databaseUrl),
      CLICKHOUSE_URL: engines.clickhouseProxy.address(clickhouseUrl),
      ...(log === 'kafka' ? kafkaSettingsOf(engines) : {}),
      MINUTEBOOK_LOG_LEVEL: 'warn',
      MINUTEBOOK_METRICS_PORT: '0',
      MINUTEBOOK_LOG_PARTITIONS: String(partitions),
      MINUTEBOOK_PRODUCE_TIMEOUT_MS: String(PRODUCE_TIMEOUT_MS),
      MINUTEBOOK_FLUSH_DELAY_MS: String(flushDelayMs),
      MINUTEBOOK_BATCH_EVENTS_MAX: String(batchEventsMax),
      // A run sends what it wants; the limit of requests has tests of its own.
      MINUTEBOOK_INGEST_RATE: '1000000',
      MINUTEBOOK_HEAVY_RATE: '1000000',
    };
  }
}

const addressOf = (port: number): string => `http://127.0.0.1:${port}`;

function isUp(port: number): Promise<boolean> {
  return fetch(`${addressOf(port)}/livez`).then(
    (answer) => answer.ok,
    () => false,
  );
}
