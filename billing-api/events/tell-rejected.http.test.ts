import { describe, expect } from 'vitest';
import { MINUTE_MS } from '../../contract/instant.js';
import { billingNeeds } from '../testing/bill-environment.js';
import { test } from '../testing/billed-test.js';
import { storeLogEvents, type LogEvent } from '../testing/log-rows.js';
import type { Answer } from '../testing/money-test.js';
import { findTold, tellRejected } from './tell-rejected.js';

const START = Date.parse('2026-03-01T10:00:00.000Z');
const at = (minutes: number) => new Date(START + minutes * MINUTE_MS).toISOString();

describe('event.rejected', () => {
  test('tells of events that no meter counts, of each name once in ten minutes', async ({
    api,
    database,
    clickhouse,
  }) => {
    const engines = { database: database.database, clickHouse: clickhouse.client };
    const { environment } = api;
    const needs = billingNeeds({ ...engines, environment });
    const actor = { kind: 'job', job: 'tell-rejected', runId: 'run' } as const;
    const look = (from: number, to: number) =>
      tellRejected(
        needs,
        { environment, actor },
        { startMs: START + from * MINUTE_MS, endMs: START + to * MINUTE_MS },
      );
    const told = async () =>
      (await api.call('GET', '/v1/webhooks/events?event_type=event.rejected')).body.items.map(
        ({ payload }: Answer) => [payload.event.id, payload.reason],
      );
    const eventOf = (id: string, name: string, minutes: number): LogEvent => ({
      id,
      name,
      at: at(minutes),
      source: '',
      properties: { region: 'eu' },
      customer: { externalCustomerId: 'acme' },
    });
    const count = { aggregation: { type: 'COUNT' } };
    await api.make('/v1/meters', { name: 'Calls', event_name: 'call', ...count });
    await api.make('/v1/meters', {
      name: 'Stored',
      event_name: 'store',
      ...count,
      filters: [{ key: 'region', values: ['eu'] }],
    });
    await storeLogEvents(clickhouse.client, environment, [
      eventOf('e1', 'call', 1),
      eventOf('e2', 'store', 1),
      { ...eventOf('e3', 'store', 2), properties: { region: 'us' } },
      eventOf('e4', 'cal', 3),
      eventOf('e5', 'cal', 4),
      eventOf('e6', 'cal', 12.5),
      eventOf('e7', 'cal', 13),
      eventOf('e8', 'other', 20),
    ]);
    await look(0, 5);
    const first = [
      ['e4', 'no_meter_for_event_name'],
      ['e3', 'no_matching_meter'],
    ];
    expect(await told()).toEqual(first);
    // A look that is made again, as after a kill.
    await look(0, 5);
    await look(5, 12.9);
    expect(await told()).toEqual(first);
    await look(12.9, 15);
    expect(await told()).toEqual([...first, ['e7', 'no_meter_for_event_name']]);
  });

  test('is told only where the setting asks for it', async ({ api, database }) => {
    const { environment } = api;
    const isTold = async () =>
      (await findTold(database.database)).some(
        ({ environmentId }) => environmentId === environment.environmentId,
      );
    expect(await isTold()).toBe(false);
    const set = (enabled: boolean) =>
      api.call('PUT', '/v1/settings/event_rejected', { body: { value: { enabled } } });
    await set(true);
    expect(await isTold()).toBe(true);
    await set(false);
    expect(await isTold()).toBe(false);
  });
});
