import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { ApiClient } from '../../cli/look/api-client.js';
import type { ClickHouse } from '../../clickhouse/client.js';
import { DAY_MS, MINUTE_MS } from '../../contract/instant.js';
import { integerColumn } from '../../sql/columns.js';
import type { Bench } from './programs.js';

export const MONTH_START_MS = Date.UTC(2026, 8, 1);
export const MINUTES_OF_MONTH = (30 * DAY_MS) / MINUTE_MS;
export const MONTH_END_MS = MONTH_START_MS + MINUTES_OF_MONTH * MINUTE_MS;
/** Whole months of customers in one insert: below what makes two blocks. */
const MONTHS_PER_INSERT = 20;

/** The meter and generation under which usage is stored. */
export type Place = Readonly<Record<'tenant' | 'environment' | 'meter', string>> & {
  readonly generation: number;
};

const placeRow = z.object({
  tenant: z.string(),
  environment: z.string(),
  meter: z.string(),
  generation: integerColumn,
});

export const customerName = (index: number): string => `customer-${index}`;

/** Creates the customers of the rows: `customer-0` and on. */
export async function createMonthCustomers(api: ApiClient, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await api.post('/customers', { external_id: customerName(index) });
  }
}

/** Sends one event through the product to find the keys under which its meters store usage. */
export async function findPlaces(
  { bench, clickhouse }: { readonly bench: Bench; readonly clickhouse: ClickHouse },
  meters: { readonly eventName: string; readonly count: number },
): Promise<ReadonlyMap<string, Place>> {
  const ingest = await bench.start('ingest');
  const aggregator = await bench.start('aggregator');
  await new ApiClient(`${ingest.url}/v1`, bench.apiKey).post('/events', {
    event_name: meters.eventName,
    external_customer_id: customerName(0),
    timestamp: '2000-01-01T00:00:00Z',
  });
  const select = `SELECT tenant_id AS tenant, environment_id AS environment, meter_id AS meter,
    generation FROM usage_minute_v1 WHERE customer_key = {customer:String}`;
  for (;;) {
    const found = await clickhouse.query(select, { customer: `e:${customerName(0)}` }, placeRow);
    if (found.length === meters.count) {
      await aggregator.stop();
      await ingest.stop();
      return new Map(found.map((place) => [place.meter, place]));
    }
    await delay(100);
  }
}

/** Events of a customer in a minute of the month: 1 to 97, without a pattern that compresses. */
export function usedIn(minute: number, customer: number): number {
  return 1 + (Math.floor((minute * 1_103_515_245 + customer * 12_345) / 128) % 97);
}

/** The usage of a customer in the month, computed without the product. */
export function usedBy(customer: number): number {
  let used = 0;
  for (let minute = 0; minute < MINUTES_OF_MONTH; minute += 1) used += usedIn(minute, customer);
  return used;
}

/** Writes the month of so many customers, a row for every minute, as `usedIn` says. */
export async function fillMonths(
  clickhouse: ClickHouse,
  place: Place,
  run: { readonly customers: number; readonly onFilled?: (rows: number) => void },
): Promise<void> {
  const { customers, onFilled } = run;
  for (let first = 0; first < customers; first += MONTHS_PER_INSERT) {
    const count = Math.min(MONTHS_PER_INSERT, customers - first);
    await clickhouse.command(
      `INSERT INTO usage_minute_v1 (tenant_id, environment_id, customer_key, meter_id, generation,
         minute, source, group_key, event_count)
       SELECT {tenant:String}, {environment:String},
         concat('e:customer-', toString({first:UInt32} + intDiv(number, {minutes:UInt32}))),
         {meter:String}, {generation:UInt64},
         toDateTime64({start:UInt32} + 60 * (number % {minutes:UInt32}), 0, 'UTC'), '', '',
         1 + intDiv((number % {minutes:UInt32}) * 1103515245
           + ({first:UInt32} + intDiv(number, {minutes:UInt32})) * 12345, 128) % 97
       FROM numbers({count:UInt64})
       SETTINGS max_block_size = 1000000, min_insert_block_size_rows = 1000000`,
      {
        ...place,
        first,
        minutes: MINUTES_OF_MONTH,
        start: MONTH_START_MS / 1000,
        count: count * MINUTES_OF_MONTH,
      },
    );
    onFilled?.((first + count) * MINUTES_OF_MONTH);
  }
}
