import { describe, expect, vi } from 'vitest';
import { EVENT_LOG_SETTINGS, openEventLogWriter } from '../../event-log/open-log.js';
import { readConfig } from '../../runtime/config.js';
import { test } from '../harness/fixtures.js';
import { makeKey } from '../harness/make-key.js';
import { namedSeries } from '../harness/monitoring-series.js';
import { startProgram, waitUntilReady, type StartedProgram } from '../harness/start-program.js';

const PROGRAMS = ['ingest', 'billing-api', 'aggregator'] as const;
const WAIT = { timeout: 45_000, interval: 100 };

/** What is 0 again as soon as nothing is under way, or wrong. It must be there all the same. */
const AT_REST: ReadonlySet<string> = new Set([
  'minutebook_late_usage_open',
  'minutebook_body_bytes',
  'minutebook_partition_lag_records',
  'minutebook_stale_key_uses_total',
  'minutebook_partitions_halted',
  'minutebook_reconciliation_difference_events',
  'minutebook_usage_drift_events',
  // Above 0 while a meter waits: billing-api/events/reconciliation/waiting-meters.db.test.ts.
  'minutebook_meter_wait_seconds',
  // Rises with the first month that expires: aggregator/retention/retention.db.test.ts.
  'minutebook_raw_events_begin_seconds',
  // Above 0 while a job waits, fails or is parked: sql/jobs/show-backlog.db.test.ts.
  'minutebook_jobs_due',
  'minutebook_job_wait_seconds',
  'minutebook_job_failures',
  'minutebook_jobs_parked',
  // Above 0 while an invoice is due or missing: billing-api/jobs/watch-billing.http.test.ts.
  'minutebook_billing_due',
  'minutebook_billing_wait_seconds',
  'minutebook_billing_faults',
]);

/** Only with the log in Kafka: operator-steps-kafka.nightly.test.ts. */
const OF_KAFKA: ReadonlySet<string> = new Set(['minutebook_log_removal_ratio']);

type Caller = { readonly apiKey: string; readonly ingest: string; readonly billingApi: string };

async function post(caller: Caller, url: string, body: object): Promise<number> {
  const headers = { 'x-api-key': caller.apiKey, 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  await answer.text();
  return answer.status;
}

/** The sum of each series over all programs and labels; a series that is not there is missing. */
async function readSeries(programs: readonly StartedProgram[]): Promise<Map<string, number>> {
  const values = new Map<string, number>();
  for (const { name } of namedSeries()) {
    const found = await Promise.all(programs.map((program) => program.metric(name)));
    const numbers = found.flatMap((of) => [...of.values()]);
    if (numbers.length > 0)
      values.set(
        name,
        numbers.reduce((sum, value) => sum + value, 0),
      );
  }
  return values;
}

/** A meter, events of every outcome, a refused one, and a record that nobody can read. */
async function causeEverything(caller: Caller, databaseUrl: string): Promise<void> {
  const meter = { name: 'Bytes', event_name: 'call', aggregation: { type: 'SUM', field: 'bytes' } };
  expect(await post(caller, `${caller.billingApi}/v1/meters`, meter)).toBe(201);
  const event = { event_name: 'call', external_customer_id: 'acme', event_id: 'a' };
  const events = [
    { ...event, properties: { bytes: 1 } },
    { ...event, properties: { bytes: 2 } },
    { ...event, event_id: 'b', properties: { bytes: 'many' } },
    { ...event, event_id: 'c', event_name: 'other' },
  ];
  for (const sent of events)
    expect(await post(caller, `${caller.ingest}/v1/events`, sent)).toBe(202);
  expect(await post(caller, `${caller.ingest}/v1/events`, {})).toBe(400);
  const config = readConfig(EVENT_LOG_SETTINGS, {});
  const writer = await openEventLogWriter({ ...config, DATABASE_URL: databaseUrl }, false);
  await writer.append([{ partition: 0, key: 'a', value: 'no record' }]);
  await writer.close();
}

describe('docs/monitoring', () => {
  test('every series that the dashboard and the alert rules name is there, and rises from 0 when something happens', async ({
    database,
    clickhouse,
  }) => {
    const engines = { DATABASE_URL: database.url, CLICKHOUSE_URL: clickhouse.url };
    const settings = { ...engines, MINUTEBOOK_LOG_LEVEL: 'fatal' };
    const programs = await Promise.all(PROGRAMS.map((name) => startProgram(name, settings)));
    try {
      await Promise.all(programs.map(({ url }) => waitUntilReady(url)));
      const { apiKey } = await makeKey(database.database, {});
      const [ingest, billingApi] = programs;
      const caller = { apiKey, ingest: ingest?.url ?? '', billingApi: billingApi?.url ?? '' };
      await causeEverything(caller, database.url);
      const names = [...new Set(namedSeries().map(({ name }) => name))];
      await vi.waitFor(async () => {
        const values = await readSeries(programs);
        const missing = names.filter((name) => !values.has(name) && !OF_KAFKA.has(name));
        const unmoved = names.filter((name) => values.get(name) === 0 && !AT_REST.has(name));
        expect({ missing, unmoved }).toEqual({ missing: [], unmoved: [] });
      }, WAIT);
    } finally {
      await Promise.all(programs.map((program) => program.stop()));
    }
  });
});
