import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect } from 'vitest';
import { endOfProgram, type ProgramEnd } from '../harness/end-of-program.js';
import { test } from '../harness/fixtures.js';

/** The one line that a program leaves. */
function lastWords({ status, lines }: ProgramEnd): unknown {
  expect(status).toBe(1);
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
}

/** One sentence for the operator, and no stack, which only helps with a bug. */
const stopped = (program: string, error: RegExp) => ({
  ...{ level: 60, msg: 'stopped', program, time: expect.any(String), pid: expect.any(Number) },
  error: expect.stringMatching(error),
});

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

test('a program whose settings of Kafka do not fit together names them, before anyone asks it', async ({
  database,
  clickhouse,
}) => {
  const settings = {
    ...{ DATABASE_URL: database.url, CLICKHOUSE_URL: clickhouse.url },
    MINUTEBOOK_TOKEN_SECRET: 'x'.repeat(32),
    MINUTEBOOK_LOG_LEVEL: 'fatal',
    ...{ KAFKA_BROKERS: '127.0.0.1:1', KAFKA_SECURITY_PROTOCOL: 'sasl_ssl' },
    ...{ KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_PASSWORD: 'top-secret' },
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

test('a program whose port is in use names it and the setting', async ({
  database,
  clickhouse,
}) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const port = String((other.address() as AddressInfo).port);
  const settings = {
    ...{ DATABASE_URL: database.url, CLICKHOUSE_URL: clickhouse.url },
    MINUTEBOOK_TOKEN_SECRET: 'x'.repeat(32),
    ...{ MINUTEBOOK_PORT: port, MINUTEBOOK_METRICS_PORT: port, MINUTEBOOK_LOG_LEVEL: 'fatal' },
  };
  const ends = {
    ingest: 'MINUTEBOOK_PORT',
    'billing-api': 'MINUTEBOOK_PORT',
    aggregator: 'MINUTEBOOK_METRICS_PORT',
  } as const;
  for (const name of ['ingest', 'billing-api', 'aggregator'] as const) {
    const reason = `127.0.0.1:${port} is in use by another program: set ${ends[name]} to another port`;
    const end = await endOfProgram(name, settings);
    expect(lastWords(end)).toEqual(stopped(name, new RegExp(`^configuration: ${reason}$`)));
  }
  other.close();
});
