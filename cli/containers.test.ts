import { parseYaml } from '@redocly/openapi-core';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SETTINGS } from '../runtime/config.js';
import { projectRoot } from '../runtime/project.js';

// No Docker engine runs these files here, so what they say is compared with the product.

type Service = {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string | number>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, object>>;
};

const read = (name: string): string => readFileSync(join(projectRoot, name), 'utf8');

const GIVEN: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'secret1',
  CLICKHOUSE_PASSWORD: 'secret2',
  MINUTEBOOK_BOOTSTRAP_API_KEY: `sk_${'a1'.repeat(20)}`,
  MINUTEBOOK_TOKEN_SECRET: 'x'.repeat(32),
  MINUTEBOOK_SECRETS_KEY: 'y'.repeat(32),
};

/** The file as Compose reads it with the values that an operator gives. */
const compose = parseYaml(
  read('compose.yaml').replace(/\$\{(\w+)(?::\?[^}]*)?\}/g, (_, name: string) => {
    return GIVEN[name] ?? `no value for ${name}`;
  }),
) as { readonly services: Readonly<Record<string, Service>> };
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image === 'minutebook');
const serviceOf = (name: string): Service | undefined => compose.services[name];

const portOf = ({ environment }: Service): string =>
  String(environment['MINUTEBOOK_PORT'] ?? environment['MINUTEBOOK_METRICS_PORT']);

describe('compose.yaml', () => {
  test('starts the three programs and migrate, from files that are built', () => {
    expect(ours.map(([name]) => name)).toEqual(['migrate', 'ingest', 'billing-api', 'aggregator']);
    for (const [, { command = [] }] of ours) {
      const source = command[0]?.replace(/^dist\/(.*)\.js$/, '$1.ts') ?? '';
      expect(existsSync(join(projectRoot, source)), source).toBe(true);
    }
    expect(serviceOf('migrate')?.command).toEqual(['dist/cli/minutebook.js', 'migrate']);
  });

  test.each(ours)('gives %s settings that exist, with values that are valid', (_, service) => {
    const settings = new Map(Object.entries(SETTINGS));
    for (const [name, value] of Object.entries(service.environment)) {
      const parsed = settings.get(name)?.schema.safeParse(String(value));
      expect(parsed?.success, `${name}: ${value}`).toBe(true);
    }
    expect(service.environment).toMatchObject({ DATABASE_URL: expect.any(String) as unknown });
  });

  test('gives every program the same log, and billing-api the secret of tokens', () => {
    const programs = ours.filter(([name]) => name !== 'migrate').map(([, service]) => service);
    const logs = programs.map(({ environment }) => environment['KAFKA_BROKERS']);
    expect(logs).toEqual(['kafka:9092', 'kafka:9092', 'kafka:9092']);
    expect(serviceOf('kafka')?.environment['KAFKA_ADVERTISED_LISTENERS']).toBe(
      `PLAINTEXT://${logs[0]}`,
    );
    expect(serviceOf('billing-api')?.environment).toHaveProperty('MINUTEBOOK_TOKEN_SECRET');
  });

  test('names servers that are services, with the logins that they are given', () => {
    for (const [, { environment }] of ours) {
      const database = new URL(String(environment['DATABASE_URL']));
      const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } =
        serviceOf(database.hostname)?.environment ?? {};
      expect([database.username, database.password, database.pathname]).toEqual([
        POSTGRES_USER,
        POSTGRES_PASSWORD,
        `/${POSTGRES_DB}`,
      ]);
      const clickhouse = new URL(String(environment['CLICKHOUSE_URL']));
      const { CLICKHOUSE_USER, CLICKHOUSE_PASSWORD, CLICKHOUSE_DB } =
        serviceOf(clickhouse.hostname)?.environment ?? {};
      expect([clickhouse.username, clickhouse.password, clickhouse.pathname]).toEqual([
        CLICKHOUSE_USER,
        CLICKHOUSE_PASSWORD,
        `/${CLICKHOUSE_DB}`,
      ]);
    }
  });

  test('asks each program for its readiness at its port', () => {
    expect(read('runtime/operational-pages.ts')).toContain("case '/readyz':");
    for (const [name, service] of ours.filter(([, { healthcheck }]) => healthcheck !== undefined)) {
      const question = service.healthcheck?.test.at(-1) ?? '';
      expect(question, name).toContain(`fetch('http://127.0.0.1:${portOf(service)}/readyz')`);
    }
    expect(ours.filter(([, { healthcheck }]) => healthcheck === undefined)).toHaveLength(1);
  });

  test('publishes ingest only, which sends what is not for it on to billing-api', () => {
    expect(ours.filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual([
      'ingest',
    ]);
    const { ports = [], environment = {} } = serviceOf('ingest') ?? {};
    expect(ports).toEqual([`127.0.0.1:8080:${environment['MINUTEBOOK_PORT']}`]);
    const billingApi = new URL(String(environment['MINUTEBOOK_BILLING_API_URL']));
    const behind = serviceOf(billingApi.hostname)?.environment;
    expect(billingApi.port).toBe(String(behind?.['MINUTEBOOK_PORT']));
    expect(behind).toMatchObject({ MINUTEBOOK_HOST: '0.0.0.0', MINUTEBOOK_PROXY_COUNT: 1 });
  });

  test('uses the images of servers that the tests use', () => {
    const harness = ['containers', 'kafka-container'].map((name) =>
      read(`load-tests/harness/${name}.ts`),
    );
    const images = services.map(([, { image }]) => image).filter((name) => name !== 'minutebook');
    expect(images).toHaveLength(3);
    for (const image of images) expect(harness.join('\n')).toContain(`'${image}'`);
  });
});

describe('the Dockerfile', () => {
  const lines = read('Dockerfile').split('\n');

  test('copies files that exist or are built', () => {
    const copies = lines.flatMap((line) => /^COPY (?!--from)(.*) \S+$/.exec(line)?.[1] ?? []);
    const names = copies.join(' ').split(' ');
    expect(names).toContain('.npmrc');
    for (const name of names) expect(existsSync(join(projectRoot, name)), name).toBe(true);
  });

  test('compiles the Kafka client with the command that the product names', () => {
    const command = 'npm rebuild node-rdkafka --ignore-scripts=false';
    expect(read('event-log/kafka/rdkafka.ts')).toContain(`'${command}'`);
    expect(lines.some((line) => line.includes(command))).toBe(true);
  });

  test('runs the programs as a user without rights', () => {
    expect(lines.lastIndexOf('USER node')).toBeGreaterThan(
      lines.findLastIndex((line) => line.startsWith('FROM')),
    );
  });
});
