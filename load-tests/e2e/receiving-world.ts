import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import type { Environment } from '../../contract/environment.js';
import { eventKey, partitionOf } from '../../contract/event-key.js';
import { callStack } from '../harness/call-stack.js';
import { makeKey } from '../harness/make-key.js';
import { startProgram, waitUntilReady, type StartedProgram } from '../harness/start-program.js';

/** What the log alone tells lags by this, which no wait of these tests reaches. */
const PRODUCE_TIMEOUT_MS = 120_000;
const PARTITIONS = 4;
export const WAIT = { timeout: 60_000, interval: 50 };

type Program = 'ingest' | 'aggregator' | 'billing-api';
type Usage = { readonly value: string; readonly data_until: string | null };

/** The programs on stores of the test's own, and a client that compares what they say. */
export class ReceivingWorld {
  readonly #programs: StartedProgram[] = [];
  /** When the client had the 202 of each event, so that it was received before. */
  readonly answeredAtMs: number[] = [];
  sent = 0;

  private constructor(
    private readonly settings: Readonly<Record<string, string>>,
    private readonly caller: { readonly apiKey: string; readonly environment: Environment },
  ) {}

  static async prepare(
    engines: { readonly database: { url: string }; readonly clickhouse: { url: string } },
    log: Readonly<Record<string, string>> = {},
  ): Promise<ReceivingWorld> {
    const settings = {
      DATABASE_URL: engines.database.url,
      CLICKHOUSE_URL: engines.clickhouse.url,
      MINUTEBOOK_PRODUCE_TIMEOUT_MS: String(PRODUCE_TIMEOUT_MS),
      MINUTEBOOK_LOG_PARTITIONS: String(PARTITIONS),
      MINUTEBOOK_LOG_LEVEL: 'error',
      ...log,
    };
    return new ReceivingWorld(settings, await makeKey(engines.database, {}));
  }

  async start(name: Program): Promise<StartedProgram> {
    const program = await startProgram(name, this.settings);
    this.#programs.push(program);
    await waitUntilReady(program.operationsUrl);
    return program;
  }

  async close(): Promise<void> {
    for (const { child } of this.#programs) child.kill('SIGCONT');
    await Promise.all(this.#programs.map((program) => program.stop()));
  }

  call<T>({ url }: StartedProgram, path: `/${string}`, body: object): Promise<T> {
    return callStack<T>({ url, apiKey: this.caller.apiKey }, `POST ${path}`, body);
  }

  /** Ids of events in one of these partitions. */
  idIn(partitions: readonly number[]): string {
    for (;;) {
      const id = randomBytes(8).toString('hex');
      const { environment } = this.caller;
      if (partitions.includes(partitionOf(eventKey(environment, id), PARTITIONS))) return id;
    }
  }

  async send(ingest: StartedProgram, id: string): Promise<void> {
    this.sent += 1;
    const event = { event_name: 'call', external_customer_id: 'acme', event_id: id };
    await this.call(ingest, '/events', event);
    this.answeredAtMs.push(Date.now());
  }

  /** Sends events until it is told to stop. */
  flow(ingest: StartedProgram, partitions: readonly number[]): () => Promise<void> {
    let isOn = true;
    const flowing = (async () => {
      while (isOn) {
        await this.send(ingest, this.idIn(partitions));
        await delay(10);
      }
    })();
    return () => {
      isOn = false;
      return flowing;
    };
  }

  /**
   * Asks for usage, and checks what it says: every event that was received before `data_until` is
   * in it. @returns that instant.
   */
  async ask(billingApi: StartedProgram): Promise<number> {
    const body = { event_name: 'call', aggregation_type: 'COUNT' };
    const { value, data_until: until } = await this.call<Usage>(billingApi, '/events/usage', body);
    const untilMs = until === null ? Number.NEGATIVE_INFINITY : Date.parse(until);
    const promised = this.answeredAtMs.filter((answeredAtMs) => answeredAtMs < untilMs).length;
    expect(Number(value)).toBeGreaterThanOrEqual(promised);
    expect(Number(value)).toBeLessThanOrEqual(this.sent);
    return untilMs;
  }

  /** Until what is asked for has every event that was answered by now. */
  async hasAll(billingApi: StartedProgram): Promise<void> {
    const nowMs = Date.now();
    await vi.waitFor(async () => expect(await this.ask(billingApi)).toBeGreaterThan(nowMs), WAIT);
  }
}

export const ALL_PARTITIONS = Array.from({ length: PARTITIONS }, (_, partition) => partition);

export async function startWorld(
  world: ReceivingWorld,
): Promise<readonly [StartedProgram, StartedProgram]> {
  const [ingest, , billingApi] = await Promise.all([
    world.start('ingest'),
    world.start('aggregator'),
    world.start('billing-api'),
  ]);
  await world.call(billingApi, '/customers', { external_id: 'acme' });
  return [ingest, billingApi];
}
