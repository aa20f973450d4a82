import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, vi } from 'vitest';
import { makeKey } from '../../harness/make-key.js';
import type { ClickHouseFixture, DatabaseFixture } from '../../harness/fixtures.js';
import {
  startProgram,
  startWholeProduct,
  waitUntilReady,
  type StartedProgram,
} from '../../harness/start-program.js';
import { longestMs, ROUNDS } from './usual-times.js';

/** The product before an attack. */
export type AtRest = {
  readonly usual: Readonly<Record<string, number>>;
  readonly before: { readonly memoryBytes: number };
};

/** A running product with an attacker and another tenant, who must notice nothing. */
export type AttackedProduct = {
  readonly program: StartedProgram;
  readonly attackerKey: string;
  /** Of the attacker as well. */
  readonly publishableKey: string;
  /** A connection that is never closed from this side, also when the server closes its own. */
  readonly open: () => Promise<Socket>;
  /** Median times of the other tenant, by what it asks; every answer must be a success. */
  readonly timesOfOther: () => Promise<Readonly<Record<string, number>>>;
  /** What is usual, measured before the attack; the first answers only warm the product up. */
  readonly atRest: () => Promise<AtRest>;
  readonly connections: () => Promise<number>;
  /** Memory that request bodies hold, by routes. */
  readonly bodyBytes: () => Promise<number>;
  readonly memoryBytes: () => Promise<number>;
};

type Engines = {
  readonly database: DatabaseFixture;
  readonly clickhouse: ClickHouseFixture;
  readonly directory: string;
};

const MIB = 1024 * 1024;

type Question = { readonly path: string; readonly body: object };

const QUESTIONS: Readonly<Record<string, Question>> = {
  event: { path: '/v1/events', body: { event_name: 'call', external_customer_id: 'acme' } },
  bulk: {
    path: '/v1/events/bulk',
    body: {
      events: Array.from({ length: 500 }, () => ({
        event_name: 'call',
        external_customer_id: 'acme',
        properties: { text: 'x'.repeat(400) },
      })),
    },
  },
  search: { path: '/v1/plans/search', body: {} },
  usage: { path: '/v1/events/usage', body: { event_name: 'call', aggregation_type: 'COUNT' } },
};

/** Answers of a REST API that runs alone. */
const REST_QUESTIONS = { search: QUESTIONS['search'], usage: QUESTIONS['usage'] };

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? NaN;
}

async function timeOf(url: string, apiKey: string, { path, body }: Question): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} of the other tenant: ${answer.status} ${text}`);
  return performance.now() - startedAt;
}

async function timesOf(
  url: string,
  apiKey: string,
  questions: Readonly<Record<string, Question | undefined>>,
): Promise<Readonly<Record<string, number>>> {
  const times: Record<string, number[]> = {};
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, question] of Object.entries(questions)) {
      if (question === undefined) continue;
      (times[name] ??= []).push(await timeOf(url, apiKey, question));
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
}

async function sumOf(program: StartedProgram, name: string): Promise<number> {
  return [...(await program.metric(name)).values()].reduce((sum, value) => sum + value, 0);
}

function start(part: 'everything' | 'billing-api', engines: Engines): Promise<StartedProgram> {
  const settings = {
    DATABASE_URL: engines.database.url,
    CLICKHOUSE_URL: engines.clickhouse.url,
    MINUTEBOOK_DATA_DIR: engines.directory,
    MINUTEBOOK_LOG_LEVEL: 'fatal',
  };
  return part === 'everything'
    ? startWholeProduct(settings)
    : startProgram('billing-api', settings);
}

/** Runs an attack against a product of its own. */
export async function withAttackedProduct(
  part: 'everything' | 'billing-api',
  engines: Engines,
  attack: (product: AttackedProduct) => Promise<void>,
): Promise<void> {
  const program = await start(part, engines);
  try {
    await waitUntilReady(program.url);
    const { database } = engines.database;
    const attacker = await makeKey(database, {});
    const { environment } = attacker;
    const publishable = await makeKey(database, { type: 'publishable_key', environment });
    const other = await makeKey(database, {});
    const questions = part === 'everything' ? QUESTIONS : REST_QUESTIONS;
    const { port } = new URL(program.url);
    const timesOfOther = () => timesOf(program.url, other.apiKey, questions);
    await attack({
      program,
      attackerKey: attacker.apiKey,
      publishableKey: publishable.apiKey,
      open: async () => {
        const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
        socket.on('data', () => undefined).on('error', () => undefined);
        await once(socket, 'connect');
        return socket;
      },
      timesOfOther,
      atRest: async () => {
        await timesOfOther();
        const usual = await timesOfOther();
        return {
          usual,
          before: { memoryBytes: await sumOf(program, 'process_resident_memory_bytes') },
        };
      },
      connections: () => sumOf(program, 'minutebook_http_connections'),
      bodyBytes: () => sumOf(program, 'minutebook_body_bytes'),
      memoryBytes: () => sumOf(program, 'process_resident_memory_bytes'),
    });
  } finally {
    await program.stop();
  }
}

/** Not much later than usual. */
export function expectUsual(
  during: Readonly<Record<string, number>>,
  usual: Readonly<Record<string, number>>,
): void {
  for (const [name, ms] of Object.entries(during)) {
    const limit = longestMs(usual[name] ?? 0);
    expect(ms, `${name}: ${ms} ms during the attack, usually ${usual[name]} ms`).toBeLessThan(
      limit,
    );
  }
}

/** What of the memory may stay: pages that the runtime keeps for the next requests. */
const KEPT_BYTES = 150 * MIB;

/** Connections, memory for bodies and memory of the process are back where they were. */
export async function expectReturned(
  product: AttackedProduct,
  before: AtRest['before'],
  withinMs: number,
): Promise<void> {
  const wait = { timeout: withinMs, interval: 100 };
  // Those of the other tenant, and the one that asks.
  await vi.waitFor(async () => expect(await product.connections()).toBeLessThan(10), wait);
  await vi.waitFor(async () => expect(await product.bodyBytes()).toBe(0), wait);
  expect((await product.memoryBytes()) - before.memoryBytes).toBeLessThan(KEPT_BYTES);
}
