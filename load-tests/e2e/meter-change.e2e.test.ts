import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'slonik';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Stack } from '../../cli/stack/stack.js';
import { createDatabase, type Database } from '../../sql/pool.js';
import { callStack } from '../harness/call-stack.js';
import { withTestStack } from '../harness/test-stack.js';

const REGIONS = ['eu', 'us', 'ap'] as const;
type Region = (typeof REGIONS)[number];
type Counts = Record<Region, number>;

/** Stored before the change; so different that the totals of two definitions are far apart. */
const STORED: Counts = { eu: 8_000, us: 40_000, ap: 2_000 };
const BULK = 1_000;
/** Sent in one go while readers poll; a fifth of them are duplicates. */
const FLOW = 50;
const FLOW_PAUSE_MS = 20;
const WAIT = { timeout: 90_000, interval: 100 };

/** The window begins and ends inside a minute, so that the answer needs events and minutes. */
const WINDOW = { start_time: '2026-01-10T10:00:30Z', end_time: '2026-01-10T10:20:30Z' };
const FIRST_MS = Date.parse(WINDOW.start_time);
const LENGTH_MS = Date.parse(WINDOW.end_time) - FIRST_MS;

const filtersOf = (...values: readonly Region[]) => [{ key: 'region', values }];

type Meter = {
  readonly id: string;
  readonly version: number;
  readonly backfill: { readonly status: string; readonly events_matched: number };
};

/** What a client does to a running product. */
class Client {
  /** Events with an id of their own that were accepted, by region. */
  readonly accepted: Counts = { eu: 0, us: 0, ap: 0 };
  #next = 0;

  constructor(private readonly stack: Stack) {}

  call<Answer>(operation: Parameters<typeof callStack>[1], body?: unknown): Promise<Answer> {
    return callStack(this.stack, operation, body);
  }

  /** Sends new events of a region, and some of them twice. */
  async send(region: Region, count: number): Promise<void> {
    const events = Array.from({ length: count }, () => this.#eventOf(region, this.#next++));
    const duplicates = events.filter((_, index) => index % 5 === 0);
    this.accepted[region] += count;
    await this.call('POST /events/bulk', { events });
    await this.call('POST /events/bulk', { events: duplicates });
  }

  #eventOf(region: Region, index: number) {
    // A third of the events is in the first minute, of which the window covers a half.
    const offset = index % 3 === 0 ? (index * 7) % 30_000 : (index * 7_919) % LENGTH_MS;
    return {
      event_id: `event-${index}`,
      event_name: 'call',
      external_customer_id: 'acme',
      timestamp: new Date(FIRST_MS + offset).toISOString(),
      properties: { region },
    };
  }

  async usage(meterId: string): Promise<number> {
    const body = { meter_id: meterId, external_customer_id: 'acme', ...WINDOW };
    const { value } = await this.call<{ value: string }>('POST /events/usage/meter', body);
    return Number(value);
  }

  makeMeter(filters: unknown): Promise<Meter> {
    const aggregation = { type: 'COUNT' };
    return this.call('POST /meters', {
      name: 'Calls',
      event_name: 'call',
      aggregation,
      filters,
    });
  }

  changeFilters(id: string, ...values: readonly Region[]): Promise<Meter> {
    return this.call(`PUT /meters/${id}`, { filters: filtersOf(...values) });
  }

  meter(id: string): Promise<Meter> {
    return this.call(`GET /meters/${id}`);
  }
}

/** Sends events of all regions until told to stop. */
async function flow(client: Client, signal: AbortSignal): Promise<void> {
  for (let round = 0; !signal.aborted; round += 1) {
    await client.send(REGIONS[round % 3] ?? 'eu', FLOW);
    await delay(FLOW_PAUSE_MS);
  }
}

type Seen = { readonly value: number; readonly accepted: Counts };

/** Polls a meter until told to stop: every value, with what had been accepted by then. */
async function poll(client: Client, meterId: string, to: { seen: Seen[]; signal: AbortSignal }) {
  while (!to.signal.aborted) {
    const value = await client.usage(meterId);
    to.seen.push({ value, accepted: { ...client.accepted } });
  }
}

/** kill -9 of the aggregator as soon as it has begun to apply version `version`. */
async function killDuringBackfill(stack: Stack, database: Database, version: number) {
  const attempt = sql.type(z.object({ attempts: z.number() }))`
    SELECT attempts FROM meter_backfills
    WHERE version = ${version} AND status = 'running' AND attempts > 0`;
  const deadline = Date.now() + WAIT.timeout;
  while ((await database.slonik.maybeOne(attempt)) === null) {
    if (Date.now() > deadline) throw new Error(`version ${version} was never seen being applied`);
    await delay(2);
  }
  const pid = stack.aggregator.pid();
  if (pid === null) throw new Error('the aggregator is not running');
  process.kill(pid, 'SIGKILL');
}

async function attemptsAt(database: Database, version: number): Promise<number> {
  const row = await database.slonik.one(sql.type(z.object({ attempts: z.number() }))`
    SELECT attempts FROM meter_backfills WHERE version = ${version}`);
  return row.attempts;
}

async function untilApplied(client: Client, id: string): Promise<void> {
  await vi.waitFor(async () => {
    expect((await client.meter(id)).backfill.status).toBe('completed');
  }, WAIT);
}

async function withStack(work: (stack: Stack, database: Database) => Promise<void>): Promise<void> {
  await withTestStack({}, async (stack) => {
    const database = await createDatabase(stack.ownerDatabaseUrl, { poolSize: 2, role: 'owner' });
    try {
      await work(stack, database);
    } finally {
      await database.close();
    }
  });
}

/** The events that are counted before anything changes: those of all regions, not only of one. */
async function sendStored(client: Client): Promise<void> {
  const ofAll = await client.makeMeter(filtersOf(...REGIONS));
  for (const region of REGIONS) {
    for (let sent = 0; sent < STORED[region]; sent += BULK) await client.send(region, BULK);
  }
  await vi.waitFor(async () => {
    expect(await client.usage(ofAll.id)).toBe(STORED.eu + STORED.us + STORED.ap);
  }, WAIT);
}

describe('a meter whose filters change while events come in', () => {
  test('shows the old total, then the new one, and nothing between, through a kill -9 of the backfill', async () => {
    await withStack(async (stack, database) => {
      const client = new Client(stack);
      await client.call('POST /customers', { external_id: 'acme' });
      const { id } = await client.makeMeter(filtersOf('eu'));
      await sendStored(client);
      expect(await client.usage(id)).toBe(STORED.eu);

      const stop = new AbortController();
      const flowing = flow(client, stop.signal);
      const seen: Seen[] = [];
      const polling = poll(client, id, { seen, signal: stop.signal });
      await vi.waitFor(() => expect(seen.length).toBeGreaterThan(5), WAIT);
      expect((await client.changeFilters(id, 'eu', 'us')).backfill.status).toBe('running');
      await killDuringBackfill(stack, database, 2);
      await untilApplied(client, id);
      expect(await attemptsAt(database, 2)).toBeGreaterThan(1);
      const after = seen.length;
      await vi.waitFor(() => expect(seen.length).toBeGreaterThan(after + 5), WAIT);
      stop.abort();
      await Promise.all([flowing, polling]);

      const switched = seen.findIndex(({ value }) => value >= STORED.eu + STORED.us);
      const [old, renewed] = [seen.slice(0, switched), seen.slice(switched)];
      expect([old.length > 5, renewed.length > 4]).toEqual([true, true]);
      const wrongOld = old.filter(({ value, accepted: { eu } }) => value < STORED.eu || value > eu);
      const wrongNew = renewed.filter(
        ({ value, accepted: { eu, us } }) => value < STORED.eu + STORED.us || value > eu + us,
      );
      expect({ wrongOld, wrongNew }).toEqual({ wrongOld: [], wrongNew: [] });
      const isGrowing = (part: typeof seen) =>
        part.every(({ value }, index) => value >= (part[index - 1]?.value ?? 0));
      expect([isGrowing(old), isGrowing(renewed)]).toEqual([true, true]);

      const { accepted } = client;
      await vi.waitFor(async () => {
        expect(await client.usage(id)).toBe(accepted.eu + accepted.us);
      }, WAIT);
      const late = await client.makeMeter(filtersOf('us', 'eu'));
      await untilApplied(client, late.id);
      expect(await client.usage(late.id)).toBe(accepted.eu + accepted.us);

      // The change is reverted: the old total is back at once, with the events sent meanwhile and
      // without another backfill.
      const back = await client.changeFilters(id, 'eu');
      expect([back.version, back.backfill.status]).toEqual([3, 'none']);
      expect(await client.usage(id)).toBe(accepted.eu);
      await client.send('eu', 100);
      await client.send('us', 100);
      await vi.waitFor(async () => {
        expect(await client.usage(id)).toBe(accepted.eu);
        expect(await client.usage(late.id)).toBe(accepted.eu + accepted.us);
      }, WAIT);
      const forth = await client.changeFilters(id, 'us', 'eu');
      expect([forth.version, forth.backfill.status]).toEqual([4, 'completed']);
      expect(await client.usage(id)).toBe(accepted.eu + accepted.us);

      // The meter is archived: later events count on the other meter only.
      const total = accepted.eu + accepted.us;
      await client.call(`DELETE /meters/${id}`);
      await client.send('us', 100);
      await vi.waitFor(async () => {
        expect(await client.usage(late.id)).toBe(total + 100);
      }, WAIT);
      expect(await client.usage(id)).toBe(total);
    });
  });
});
