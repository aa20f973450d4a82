import { describe, expect } from 'vitest';
import type { AppendRequest, EventLogWriter } from '../../event-log/interface/event-log.js';
import { DependencyError } from '../../runtime/failure.js';
import { ingestTest as test, startTestIngest, type TestIngest } from '../testing/ingest-harness.js';

const EVENT = { event_name: 'call', external_customer_id: 'acme' };

/** A log that fails, hangs or is slow on demand, which a real log cannot do. */
function faultyWriter(
  append: (records: readonly AppendRequest[]) => Promise<void>,
): EventLogWriter {
  return {
    identity: { logId: 'faulty', partitionCount: 3 },
    append,
    ping: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** A log that acknowledges when it is told to. */
function heldWriter() {
  let acknowledge = (): void => undefined;
  let say = (): void => undefined;
  /** Resolves when it has got records. */
  const hasRecords = new Promise<void>((resolve) => {
    say = resolve;
  });
  const writer = faultyWriter(() => {
    say();
    return new Promise((resolve) => {
      acknowledge = resolve;
    });
  });
  return { writer, hasRecords, acknowledge: () => acknowledge() };
}

const outage = (): DependencyError =>
  new DependencyError('the secret address 10.0.0.1 is down', {
    dependency: 'event-log',
    isRetryable: true,
  });

async function histogramCount(ingest: TestIngest): Promise<number> {
  const { values } = await ingest.metrics.produceSeconds.get();
  return values.find((value) => value.metricName?.endsWith('_count'))?.value ?? 0;
}

describe('503 service_unavailable', () => {
  const unavailable = {
    status: 503,
    headers: { 'retry-after': '1' },
    body: { code: 'service_unavailable', http_status_code: 503 },
  };

  test('answers when the log refuses, and reveals nothing internal', async ({ database }) => {
    const writer = faultyWriter(() => Promise.reject(outage()));
    const ingest = await startTestIngest(database, { writer });
    const single = await ingest.send(JSON.stringify(EVENT));
    expect(single).toMatchObject(unavailable);
    expect(JSON.stringify(single.body)).not.toContain('10.0.0.1');
    const bulk = JSON.stringify({ events: [EVENT, EVENT] });
    expect(await ingest.send(bulk, { path: '/v1/events/bulk' })).toMatchObject(unavailable);
    expect((await ingest.metrics.eventsAccepted.get()).values[0]?.value).toBe(0);
    await ingest.close();
  });

  test('answers when the log does not acknowledge in time', async ({ database }) => {
    const writer = faultyWriter(() => new Promise(() => undefined));
    const ingest = await startTestIngest(database, { writer, produceTimeoutMs: 100 });
    expect(await ingest.send(JSON.stringify(EVENT))).toMatchObject(unavailable);
    expect(await histogramCount(ingest)).toBe(0);
    await ingest.close();
  });

  test('answers instead of filling the memory while the log hangs', async ({ database }) => {
    let appended = 0;
    const writer = faultyWriter(() => {
      appended += 1;
      return new Promise(() => undefined);
    });
    const bodyLimits = { bodyBytesMax: 10_000, smallBytesMax: 10_000 };
    const options = { writer, produceTimeoutMs: 20, bodyLimits };
    const ingest = await startTestIngest(database, options);
    for (let count = 0; count < 30; count += 1) {
      expect(await ingest.send(JSON.stringify(EVENT))).toMatchObject(unavailable);
    }
    expect(appended).toBeGreaterThan(5);
    expect(appended).toBeLessThan(11);
    await ingest.close();
  });

  test('answers when API keys cannot be looked up', async ({ database }) => {
    const apiKeys = { find: () => Promise.reject(outage()), wasFound: () => false };
    const ingest = await startTestIngest(database, { apiKeys });
    expect(await ingest.send(JSON.stringify(EVENT))).toMatchObject(unavailable);
    await ingest.close();
  });
});

describe('500 internal_error', () => {
  test('answers a bug, and reveals nothing internal', async ({ database }) => {
    const writer = faultyWriter(() => Promise.reject(new TypeError('x is undefined')));
    const ingest = await startTestIngest(database, { writer });
    const reply = await ingest.send(JSON.stringify(EVENT));
    expect(reply).toMatchObject({
      status: 500,
      body: { code: 'internal_error', http_status_code: 500 },
    });
    expect(JSON.stringify(reply.body)).not.toContain('undefined');
    await ingest.close();
  });
});

describe('202', () => {
  test('is not sent before the log has acknowledged', async ({ database }) => {
    const { writer, hasRecords, acknowledge } = heldWriter();
    const ingest = await startTestIngest(database, { writer });
    let isAnswered = false;
    const reply = ingest.send(JSON.stringify(EVENT)).finally(() => (isAnswered = true));
    await hasRecords;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(isAnswered).toBe(false);
    acknowledge();
    expect(await reply).toMatchObject({ status: 202 });
    await ingest.close();
  });
});

describe('closing', () => {
  test('answers running requests and accepts no new connection', async ({ database }) => {
    const { writer, hasRecords, acknowledge } = heldWriter();
    const ingest = await startTestIngest(database, { writer });
    const inFlight = ingest.send(JSON.stringify(EVENT));
    await hasRecords;
    const closingSince = performance.now();
    const closed = ingest.close();
    await expect(ingest.send(JSON.stringify(EVENT))).rejects.toThrow('ECONNREFUSED');
    acknowledge();
    expect(await inFlight).toMatchObject({ status: 202 });
    await closed;
    // The client keeps its connection open: the server closes it once idle, without waiting 10 s.
    expect(performance.now() - closingSince).toBeLessThan(3_000);
  });
});

describe('readiness', () => {
  test('names each dependency and is 503 while one is down', async ({ ingest, database }) => {
    const get = { method: 'GET', path: '/readyz' };
    expect(await ingest.send('', get)).toMatchObject({
      status: 200,
      body: { status: 'ready', dependencies: { event_log: 'up' } },
    });
    const writer = {
      ...faultyWriter(() => Promise.resolve()),
      ping: () => Promise.reject(outage()),
    };
    const broken = await startTestIngest(database, { writer });
    expect(await broken.send('', get)).toMatchObject({
      status: 503,
      body: { status: 'not_ready', dependencies: { event_log: 'down' } },
    });
    expect(await broken.send('', { method: 'GET', path: '/livez' })).toMatchObject({ status: 200 });
    await broken.close();
  });

  test('metrics are served as text', async ({ ingest }) => {
    await ingest.send(JSON.stringify(EVENT));
    const { status, body } = await ingest.send('', { method: 'GET', path: '/metrics' });
    expect(status).toBe(200);
    expect(body).toContain('minutebook_events_accepted_total 1');
    expect(body).toContain('route="/v1/events",status="202"');
  });
});
