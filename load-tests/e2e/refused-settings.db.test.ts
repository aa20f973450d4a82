import { createServer, type AddressInfo } from 'node:net';
import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { endOfProgram, type ProgramEnd } from '../harness/end-of-program.js';
import { useLog } from '../../sql/log-in-use.js';
import { test } from '../harness/fixtures.js';
import { ownerOf } from '../harness/owner.js';
import { startProgram, waitUntilReady } from '../harness/start-program.js';

/** The one line that a program leaves. */
function lastWords({ status, lines }: ProgramEnd): unknown {
  expect(status).toBe(1);
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
}

/** One sentence for the operator, and no stack, which only helps with a bug. */
const stopped = (program: string, error: RegExp) => ({
  level: 60,
  msg: 'stopped',
  program,
  time: expect.any(String),
  pid: expect.any(Number),
  error: expect.stringMatching(error),
});

/** As docs/operations.md 5 says. */
const METRICS_PORTS = { ingest: 9080, 'billing-api': 9081, aggregator: 9082 } as const;

describe('a program that cannot use its settings says so in one line of its log', () => {
  test.for(['ingest', 'aggregator', 'billing-api'] as const)('%s', async (name) => {
    const [unknown, missing] = await Promise.all([
      endOfProgram(name, { MINUTEBOOK_PROT: '1', MINUTEBOOK_LOG_PARTITIONS: 'many' }),
      endOfProgram(name, {}),
    ]);
    const both = /^configuration: MINUTEBOOK_PROT is not a setting .*; MINUTEBOOK_LOG_PARTITIONS: /;
    expect(lastWords(unknown)).toEqual(stopped(name, both));
    expect(lastWords(missing)).toEqual(stopped(name, /^configuration: DATABASE_URL is required/));
  });
});

/** Takes a port of loopback, unless another program has it. */
async function takePort(wanted: number): Promise<{ port: string; giveBack: () => void }> {
  const server = createServer();
  const taken = new Promise<void>((resolve) => {
    server.once('listening', resolve).once('error', () => resolve());
  });
  server.listen(wanted, '127.0.0.1');
  await taken;
  const address = server.address() as AddressInfo | null;
  return { port: String(address?.port ?? wanted), giveBack: () => server.close() };
}

test('a program whose settings of Kafka do not fit together names them, before anyone asks it', async ({
  database,
  clickhouse,
}) => {
  const settings = {
    DATABASE_URL: database.url,
    CLICKHOUSE_URL: clickhouse.url,
    MINUTEBOOK_TOKEN_SECRET: 'x'.repeat(32),
    MINUTEBOOK_LOG_LEVEL: 'fatal',
    KAFKA_BROKERS: '127.0.0.1:1',
    KAFKA_SECURITY_PROTOCOL: 'sasl_ssl',
    KAFKA_SASL_MECHANISM: 'PLAIN',
    KAFKA_SASL_PASSWORD: 'top-secret',
  };
  const names = ['ingest', 'aggregator', 'billing-api'] as const;
  const ends = await Promise.all(names.map((name) => endOfProgram(name, settings)));
  for (const [index, name] of names.entries()) {
    const end = ends[index] ?? { status: 0, lines: [] };
    const reason = /^configuration: KAFKA_SASL_USERNAME is required with KAFKA_SECURITY_PROTOCOL/;
    expect(lastWords(end)).toEqual(stopped(name, reason));
    expect(end.lines.join()).not.toContain('top-secret');
  }
});

test('a program that was started on another log than the one in use names both', async ({
  database,
  clickhouse,
}) => {
  await useLog(database.database, 'k-in-use');
  const settings = {
    DATABASE_URL: database.url,
    CLICKHOUSE_URL: clickhouse.url,
    MINUTEBOOK_TOKEN_SECRET: 'x'.repeat(32),
    MINUTEBOOK_LOG_LEVEL: 'fatal',
  };
  const started = /^configuration: log k-in-use is in use, and this program was started on log pg-/;
  const reasons = {
    ingest: started,
    aggregator: started,
    'billing-api': /^configuration: log k-in-use in Kafka is in use, and KAFKA_BROKERS is not set/,
  };
  for (const name of ['ingest', 'aggregator', 'billing-api'] as const) {
    expect(lastWords(await endOfProgram(name, settings))).toEqual(stopped(name, reasons[name]));
  }
});

test('a program that runs on when another log has taken the place of its own is not ready, and says why', async ({
  database,
  clickhouse,
}) => {
  const settings = {
    DATABASE_URL: database.url,
    CLICKHOUSE_URL: clickhouse.url,
    MINUTEBOOK_LOG_LEVEL: 'silent',
  };
  const names = ['ingest', 'aggregator', 'billing-api'] as const;
  const programs = await Promise.all(names.map((name) => startProgram(name, settings)));
  try {
    await Promise.all(programs.map(({ operationsUrl }) => waitUntilReady(operationsUrl)));
    await ownerOf(database.database).query(
      sql.type(z.unknown())`UPDATE log_in_use SET log = 'k-next'`,
    );
    for (const { operationsUrl } of programs) {
      await vi.waitFor(
        async () => {
          const answer = await fetch(`${operationsUrl}/readyz`);
          expect([answer.status, await answer.json()]).toMatchObject([
            503,
            { dependencies: { postgres: 'up', schema: 'up', log_in_use: 'down' } },
          ]);
        },
        { timeout: 20_000, interval: 100 },
      );
    }
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
  }
});

test('a program whose port is in use names it and the setting', async ({
  database,
  clickhouse,
}) => {
  const { port, giveBack } = await takePort(0);
  const settings = {
    DATABASE_URL: database.url,
    CLICKHOUSE_URL: clickhouse.url,
    MINUTEBOOK_TOKEN_SECRET: 'x'.repeat(32),
    MINUTEBOOK_LOG_LEVEL: 'fatal',
  };
  const ends = {
    ingest: 'MINUTEBOOK_PORT',
    'billing-api': 'MINUTEBOOK_PORT',
    aggregator: 'MINUTEBOOK_METRICS_PORT',
  } as const;
  const inUse = (used: string, setting: string) =>
    new RegExp(
      `^configuration: 127.0.0.1:${used} is in use by another program: set ${setting} to another port$`,
    );
  await Promise.all(
    (['ingest', 'billing-api', 'aggregator'] as const).map(async (name) => {
      const end = await endOfProgram(name, { ...settings, [ends[name]]: port });
      expect(lastWords(end)).toEqual(stopped(name, inUse(port, ends[name])));
      // Whoever watches the programs finds them at ports that are written down.
      const known = await takePort(METRICS_PORTS[name]);
      const other = await endOfProgram(name, { ...settings, MINUTEBOOK_METRICS_PORT: '' });
      known.giveBack();
      expect(lastWords(other)).toEqual(stopped(name, inUse(known.port, 'MINUTEBOOK_METRICS_PORT')));
    }),
  );
  giveBack();
});
