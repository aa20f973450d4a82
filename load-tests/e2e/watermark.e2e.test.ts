import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { Stack } from '../../cli/stack/stack.js';
import { callStack } from '../harness/call-stack.js';
import { withTestStack } from '../harness/test-stack.js';

const OCTOBER = { period_start: '2026-10-01T00:00:00Z', period_end: '2026-11-01T00:00:00Z' };
const MONTH_MS = 31 * 24 * 3_600_000;
const REGIONS = ['eu', 'us'] as const;
const FLOW = 40;
const FLOW_PAUSE_MS = 10;
const PREVIEWS_MIN = 60;
const WAIT = { timeout: 90_000, interval: 100 };

type Made = { readonly id: string };
type Line = { readonly quantity: string };
type Preview = { readonly line_items: readonly Line[] };

/** Two prices of one meter: the first is read from minutes, the other from the events. */
async function subscribe(stack: Stack): Promise<string> {
  const make = (path: `/${string}`, body: object) => callStack<Made>(stack, `POST ${path}`, body);
  const customer = await make('/customers', { external_id: 'acme' });
  const aggregation = { type: 'COUNT' };
  const meter = await make('/meters', { name: 'Calls', event_name: 'call', aggregation });
  const plan = await make('/plans', { name: 'Pro' });
  const price = { entity_id: plan.id, currency: 'usd', meter_id: meter.id, amount: '1' };
  await make('/prices', price);
  await make('/prices', { ...price, filter_values: { region: REGIONS } });
  const { id } = await make('/subscriptions', {
    customer_id: customer.id,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: OCTOBER.period_start,
  });
  return id;
}

/** Sends events of the whole month until told to stop. @returns how many. */
async function flow(stack: Stack, signal: AbortSignal): Promise<number> {
  let sent = 0;
  while (!signal.aborted) {
    const events = Array.from({ length: FLOW }, () => {
      const index = sent++;
      return {
        event_id: `event-${index}`,
        event_name: 'call',
        external_customer_id: 'acme',
        timestamp: new Date(Date.UTC(2026, 9) + ((index * 7_919_777) % MONTH_MS)).toISOString(),
        properties: { region: REGIONS[index % 2] },
      };
    });
    await callStack(stack, 'POST /events/bulk', { events });
    await delay(FLOW_PAUSE_MS);
  }
  return sent;
}

describe('an invoice that is computed while events come in', () => {
  test('counts the same events from minutes and from the events themselves', async () => {
    await withTestStack({}, async (stack) => {
      const id = await subscribe(stack);
      const quantities = async (): Promise<readonly string[]> => {
        const body = { subscription_id: id, ...OCTOBER };
        const preview = await callStack<Preview>(stack, 'POST /invoices/preview', body);
        return preview.line_items.map(({ quantity }) => quantity);
      };
      const stop = new AbortController();
      const flowing = flow(stack, stop.signal);
      const seen: (readonly string[])[] = [];
      while (seen.length < PREVIEWS_MIN) seen.push(await quantities());
      stop.abort();
      const sent = await flowing;
      expect(seen.filter(([minutes, events]) => minutes !== events)).toEqual([]);
      const counts = seen.map(([minutes]) => Number(minutes));
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
      // Or nothing was written while the usage was read.
      expect(new Set(counts).size).toBeGreaterThan(PREVIEWS_MIN / 4);
      await vi.waitFor(async () => {
        expect(await quantities()).toEqual([String(sent), String(sent)]);
      }, WAIT);
    });
  });
});
