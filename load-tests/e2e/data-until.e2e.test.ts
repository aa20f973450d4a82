import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, vi } from 'vitest';
import { eventKey, partitionOf } from '../../contract/event-key.js';
import type { Environment } from '../../contract/environment.js';
import { withSession } from '../../sql/session.js';
import { callStack } from '../harness/call-stack.js';
import { test } from '../harness/fixtures.js';
import { obtainKafka } from '../harness/kafka.js';
import { makeKey } from '../harness/make-key.js';
import { startProgram, waitUntilReady, type StartedProgram } from '../harness/start-program.js';

/** What the log alone tells lags by this, which no wait of these tests reaches. */
const PRODUCE_TIMEOUT_MS = 120_000;
const PARTITIONS = 4;
const WAIT = { timeout: 60_000, interval: 50 };

const { kafka, skipReason } = await obtainKafka();
afterAll(() => kafka?.stop());

type Program = 'ingest' | 'aggregator' | 'billing-api';
type Usage = { readonly value: string; readonly data_until: string | null };

/** The programs on stores of the test's own, and a client that compares what they say. */
class World {
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
  ): Promise<World> {
    const settings = {
      ...{ DATABASE_URL: engines.database.url, CLICKHOUSE_URL: engines.clickhouse.url },
      MINUTEBOOK_PRODUCE_TIMEOUT_MS: String(PRODUCE_TIMEOUT_MS),
      MINUTEBOOK_LOG_PARTITIONS: String(PARTITIONS),
      MINUTEBOOK_LOG_LEVEL: 'error',
      ...log,
    };
    return new World(settings, await makeKey(engines.database, {}));
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

const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);

async function startWorld(world: World): Promise<readonly [StartedProgram, StartedProgram]> {
  const [ingest, , billingApi] = await Promise.all([
    world.start('ingest'),
    world.start('aggregator'),
    world.start('billing-api'),
  ]);
  await world.call(billingApi, '/customers', { external_id: 'acme' });
  return [ingest, billingApi];
}

describe('data_until', () => {
  test('follows what is counted while events flow, waits for what a stopped ingest holds, and not for ever for one that was killed', async ({
    database,
    clickhouse,
  }) => {
    const world = await World.prepare({ database, clickhouse });
    try {
      const [ingest, billingApi] = await startWorld(world);
      const stopFirst = world.flow(ingest, ALL);
      for (let times = 0; times < 3; times += 1) await world.hasAll(billingApi);
      await stopFirst();

      // Another ingest has an event, and is stopped before the log has it.
      const other = await world.start('ingest');
      const [held, free] = [[0], [1, 2, 3]];
      const stop = await withSession(database.url, async (session) => {
        await session.query('BEGIN');
        await session.query('SELECT FROM event_log_partitions WHERE partition = 0 FOR UPDATE');
        const sending = world.send(other, world.idIn(held));
        await vi.waitFor(async () => {
          const waiting = `SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`;
          expect((await session.query(waiting)).rowCount).toBe(1);
        }, WAIT);
        const heldByMs = Date.now();
        other.child.kill('SIGSTOP');
        const stopFlow = world.flow(ingest, free);
        const { sent } = world;
        while (world.sent < sent + 100) {
          expect(await world.ask(billingApi)).toBeLessThanOrEqual(heldByMs);
        }
        await session.query('COMMIT');
        other.child.kill('SIGCONT');
        await sending;
        return stopFlow;
      });
      await world.hasAll(billingApi);

      // Killed, it is waited for as long as it might only be cut off.
      const killedByMs = Date.now();
      other.child.kill('SIGKILL');
      await delay(500);
      const { sent } = world;
      while (world.sent < sent + 50) {
        expect(await world.ask(billingApi)).toBeLessThanOrEqual(killedByMs + 500);
      }
      await withSession(database.url, (session) =>
        session.query(`UPDATE ingest_processes SET reported_at = reported_at - silent_max
          WHERE reported_at < clock_timestamp() - interval '0.4 s'`),
      );
      await world.hasAll(billingApi);
      await stop();
      await world.hasAll(billingApi);
      // One that ends in order is not waited for.
      await ingest.stop();
      const { rows } = await withSession(database.url, (session) =>
        session.query(`SELECT FROM ingest_processes WHERE reported_at > clock_timestamp() - silent_max`),
      );
      expect(rows).toEqual([]);
    } finally {
      await world.close();
    }
  });
});

describe.skipIf(kafka === null)(`data_until of Kafka ${skipReason ?? ''}`, () => {
  test('follows what is counted while events flow', async ({ database, clickhouse }) => {
    const topic = `test-${randomBytes(6).toString('hex')}`;
    const log = { KAFKA_BROKERS: kafka?.brokers ?? '', KAFKA_TOPIC: topic };
    const world = await World.prepare({ database, clickhouse }, log);
    try {
      const [ingest, billingApi] = await startWorld(world);
      const stop = world.flow(ingest, ALL);
      for (let times = 0; times < 3; times += 1) await world.hasAll(billingApi);
      await stop();
      await world.hasAll(billingApi);
    } finally {
      await world.close();
    }
  });
});
