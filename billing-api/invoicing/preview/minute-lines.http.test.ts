import { ownerOf } from '../../../load-tests/harness/owner.js';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { sql } from 'slonik';
import { z } from 'zod';
import { integerColumn } from '../../../sql/columns.js';
import { makeKey, test } from '../../testing/billing-test.js';
import { makePricedPlan } from '../../testing/priced-plan.js';

const OCTOBER = { period_start: '2026-10-01T00:00:00Z', period_end: '2026-11-01T00:00:00Z' };
const MINUTES_OF_OCTOBER = 31 * 24 * 60;
/** Together more than a million minutes, which no single reading of usage answers. */
const LINES = 24;
const EVENTS_A_PACKAGE = 3;

const eventsAt = (line: number, minute: number): number => 1 + ((minute * 7 + line) % 5);

describe('POST /invoices/preview of many lines with MINUTE buckets', () => {
  test(
    'prices every minute of every line, however many they are, beside the requests of others',
    { timeout: 120_000 },
    async ({ api, database, clickhouse }) => {
      const meter = { type: 'COUNT', bucketSize: 'MINUTE' } as const;
      const price = { amount: '1', transform_quantity: { divide_by: EVENTS_A_PACKAGE } };
      const plan = await makePricedPlan(api, { database, clickhouse }, { meter, price });
      const meterIds = [plan.meterId];
      while (meterIds.length < LINES) {
        const { id } = await api.make('/v1/meters', {
          name: `Calls ${meterIds.length}`,
          event_name: 'call',
          aggregation: { type: 'COUNT', bucket_size: 'MINUTE', bucket_pricing: 'bucket' },
        });
        const owned = { entity_id: plan.planId, currency: 'usd', meter_id: id };
        await api.make('/v1/prices', { ...owned, ...price });
        meterIds.push(id);
      }
      const { tenantId, environmentId } = api.environment;
      const generations = await ownerOf(database.database).any(
        sql.type(z.object({ meter_id: z.string(), generation: integerColumn }))`
        SELECT meter_id, generation FROM meter_versions`,
      );
      const generationOf = new Map(generations.map((row) => [row.meter_id, row.generation]));
      for (const [line, meterId] of meterIds.entries()) {
        await clickhouse.client.command(`
        INSERT INTO usage_minute_v1 (tenant_id, environment_id, customer_key, meter_id, generation,
          minute, event_count)
        SELECT '${tenantId}', '${environmentId}', 'e:acme', '${meterId}',
          ${generationOf.get(meterId) ?? 0},
          toDateTime64('2026-10-01 00:00:00', 0, 'UTC') + toIntervalMinute(number),
          1 + (number * 7 + ${line}) % 5
        FROM numbers(${MINUTES_OF_OCTOBER})`);
      }
      const subscriptionId = await plan.subscribe();
      const body = { subscription_id: subscriptionId, ...OCTOBER };
      const { apiKey } = await makeKey(database.database, {});
      const done: string[] = [];
      const before = performance.eventLoopUtilization();
      const previewing = api.make('/v1/invoices/preview', body).finally(() => done.push('preview'));
      await delay(500);
      const small = await api.call('GET', '/v1/users/me', { headers: { 'x-api-key': apiKey } });
      done.push('small');
      const invoice = await previewing;
      // Reading and pricing a million minutes here would keep the event loop for most of the time.
      expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.4);
      expect([small.status, done]).toEqual([200, ['small', 'preview']]);
      const expected = meterIds.map((_, line) => {
        let [events, packages] = [0, 0];
        for (let minute = 0; minute < MINUTES_OF_OCTOBER; minute += 1) {
          events += eventsAt(line, minute);
          packages += Math.ceil(eventsAt(line, minute) / EVENTS_A_PACKAGE);
        }
        return [String(events), `${packages}.00`];
      });
      const lines = invoice.line_items.map((line: { quantity: string; amount: string }) => [
        line.quantity,
        line.amount,
      ]);
      expect(lines).toEqual(expected);
      const total = expected.reduce((sum, [, amount]) => sum + Number(amount), 0);
      expect(invoice.subtotal).toBe(total.toFixed(2));
    },
  );

  test('refuses more buckets than its memory holds before it reads one', async ({
    api,
    database,
    clickhouse,
  }) => {
    const meter = { type: 'COUNT', bucketSize: 'MINUTE' } as const;
    const price = { amount: '1' };
    const plan = await makePricedPlan(api, { database, clickhouse }, { meter, price });
    const owned = { entity_id: plan.planId, currency: 'usd', meter_id: plan.meterId, ...price };
    // With the first one 121 months of minutes.
    for (const length of [60, 60]) {
      await api.make('/v1/prices/bulk', { items: Array.from({ length }, () => owned) });
    }
    const body = { subscription_id: await plan.subscribe(), ...OCTOBER };
    const { status, body: error } = await api.call('POST', '/v1/invoices/preview', { body });
    expect([status, error.code]).toEqual([400, 'validation_error']);
    expect(error.message).toContain('more than 5000000 buckets together');
  });
});
