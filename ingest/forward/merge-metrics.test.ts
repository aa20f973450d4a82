import { expect, test } from 'vitest';
import { createMetrics } from '../../runtime/metrics.js';
import { mergeMetrics } from './merge-metrics.js';

test('the metrics of two programs are one page, with each family and each series once', async () => {
  const ingest = createMetrics('ingest');
  const billing = createMetrics('billing-api');
  const labels = { method: 'GET', route: 'none', status: '503' };
  for (const metrics of [ingest, billing]) metrics.httpSeconds.observe(labels, 0.1);
  ingest.eventsAccepted.inc(7);
  const pages = await Promise.all([ingest.registry.metrics(), billing.registry.metrics()]);
  const lines = mergeMetrics(...(pages as [string, string])).split('\n');

  const types = lines.filter((line) => line.startsWith('# TYPE '));
  expect(new Set(types).size).toBe(types.length);
  const series = lines.filter((line) => /^\w/.test(line)).map((line) => line.split(' ')[0]);
  expect(new Set(series).size).toBe(series.length);
  expect(lines).toContain('minutebook_events_accepted_total{program="ingest"} 7');
  for (const program of ['ingest', 'billing-api']) {
    const ofProgram = lines.filter((line) => line.includes(`program="${program}"`));
    const names = ofProgram.map((line) => line.split('{')[0]);
    expect(names).toContain('minutebook_http_request_seconds_count');
    expect(names).toContain('process_resident_memory_bytes');
  }
  const started = lines.indexOf('# TYPE minutebook_http_request_seconds histogram');
  const after = lines.slice(started + 1);
  const end = after.findIndex((line) => !line.startsWith('minutebook_http_request_seconds_'));
  expect(after.slice(0, end).filter((line) => line.includes('_count{'))).toHaveLength(2);
});

test('a program shows no metric that only another one sets', async () => {
  const shown = await createMetrics('ingest').registry.metrics();
  expect(shown).not.toContain('minutebook_reconciliation_timestamp_seconds');
  expect(shown).toContain('minutebook_produce_seconds');
});
