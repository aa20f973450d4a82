import pc from 'picocolors';
import { Decimal, plain, ZERO } from '../../contract/number/decimal.js';
import type { EventBody } from './access-log.js';
import type { ApiClient } from '../look/api-client.js';
import { tableLines } from '../look/tables.js';

type WithId = { readonly id: string };

/** Windows are hours of this time zone, which is two hours ahead of that of the log. */
const ZONE = 'Europe/Berlin';

const HOURLY = {
  name: 'Requests by the hour',
  event_name: 'http_request',
  aggregation: { type: 'COUNT', bucket_size: 'HOUR' },
};

/** What a customer commits to: eight requests an hour by day, four by night (over midnight). */
const TIME_BUCKETS = [
  {
    start: { hour: 8 },
    end: { hour: 20 },
    commitment_type: 'amount',
    commitment_value: '0.32',
    overage_factor: 1.5,
    true_up_enabled: true,
    price: { currency: 'usd', amount: '0.04' },
  },
  {
    start: { hour: 20 },
    end: { hour: 6 },
    commitment_type: 'quantity',
    commitment_value: '4',
    overage_factor: 1.25,
    price: { currency: 'usd', amount: '0.02' },
  },
];
const NAMES = ['day', 'night'];
const BASE_AMOUNT = '0.05';

export type HourlyCatalog = {
  readonly meterId: string;
  readonly planId: string;
  readonly priceId: string;
};

/** Creates a meter with hourly buckets and a plan that prices it. */
export async function createHourlyCatalog(api: ApiClient): Promise<HourlyCatalog> {
  const { id: meterId } = await api.post<WithId>('/meters', HOURLY);
  const { id: planId } = await api.post<WithId>('/plans', { name: 'Reserved capacity' });
  const price = { entity_id: planId, meter_id: meterId, currency: 'usd', amount: BASE_AMOUNT };
  const { id: priceId } = await api.post<WithId>('/prices', price);
  return { meterId, planId, priceId };
}

type Day = { readonly window_start: string; readonly window_end: string; readonly value: string };

/** The local day on which the customer sent the most requests. */
async function busiestDay(
  api: ApiClient,
  { meterId }: HourlyCatalog,
  log: HourlyLog,
): Promise<Day> {
  const { results } = await api.post<{ readonly results: readonly Day[] }>('/events/usage/meter', {
    meter_id: meterId,
    external_customer_id: log.customer,
    start_time: log.events[0]?.timestamp,
    end_time: log.events.at(-1)?.timestamp,
    window_size: 'DAY',
    timezone: ZONE,
  });
  const byUsage = results.toSorted((a, b) => new Decimal(b.value).comparedTo(a.value));
  const [busiest] = byUsage;
  if (busiest === undefined) throw new Error('the log has no day');
  return busiest;
}

type SubscriptionAnswer = WithId & {
  readonly line_items: readonly { readonly commitment_time_buckets: readonly WithId[] }[];
};

function subscribe(
  api: ApiClient,
  { planId, priceId }: HourlyCatalog,
  facts: { readonly customer: string; readonly startDate: string },
): Promise<SubscriptionAnswer> {
  return api.post<SubscriptionAnswer>('/subscriptions', {
    external_customer_id: facts.customer,
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: facts.startDate,
    customer_timezone: ZONE,
    line_item_commitments: {
      [priceId]: { commitment_windowed: true, commitment_time_buckets: TIME_BUCKETS },
    },
  });
}

type Window = {
  readonly start: string;
  readonly end: string;
  readonly local_start: string;
  readonly quantity: string;
  readonly bucket_id: string | null;
  readonly usage_amount: string;
  readonly commitment: string | null;
  readonly utilized: string;
  readonly overage: string;
  readonly true_up: string;
  readonly charge: string;
};
type Line = {
  readonly amount: string;
  readonly quantity: string;
  readonly explanation: { readonly windows: { readonly items: readonly Window[] } };
};

const FIGURES = ['usage_amount', 'utilized', 'overage', 'true_up', 'charge'] as const;

function printWindows(windows: readonly Window[], nameOf: (id: string | null) => string): void {
  const rows = windows.map((window) => [
    window.local_start.slice(11, 16),
    nameOf(window.bucket_id),
    window.quantity,
    window.usage_amount,
    window.commitment ?? '',
    window.utilized,
    window.overage,
    window.true_up,
    window.charge,
  ]);
  const [usage, utilized, overage, trueUp, charge] = FIGURES.map((name) =>
    plain(sumOf(windows.map((window) => window[name]))),
  );
  const quantity = plain(sumOf(windows.map((window) => window.quantity)));
  const total = ['Total', '', quantity, usage, '', utilized, overage, trueUp, charge];
  const header = 'hour,bucket,requests,usage,committed,utilized,overage,true-up,charge'.split(',');
  const cells = [...rows, total.map((cell) => pc.bold(cell ?? ''))];
  for (const line of tableLines(header, cells)) console.log(line);
}

function sumOf(texts: readonly string[]): Decimal {
  return texts.reduce((sum, text) => sum.plus(text), ZERO);
}

/** One line for every window whose number of requests differs from that of the file. */
function disagreements(windows: readonly Window[], log: HourlyLog): readonly string[] {
  const instants = log.events
    .filter((event) => event.external_customer_id === log.customer)
    .map((event) => Date.parse(event.timestamp));
  return windows.flatMap(({ start, end, quantity }) => {
    const inside = instants.filter((at) => at >= Date.parse(start) && at < Date.parse(end)).length;
    return String(inside) === quantity ? [] : [`${start}: ${quantity}, the file has ${inside}`];
  });
}

export type HourlyLog = {
  readonly customer: string;
  /** The events of all customers, in the order of time. */
  readonly events: readonly EventBody[];
};

/**
 * Commits a customer to requests by the hour, in two time buckets, and prints every hour of the
 * busiest day with its charge.
 * @returns one line for every number that differs from the file or from the sum of the hours.
 */
export async function printHours(
  api: ApiClient,
  catalog: HourlyCatalog,
  log: HourlyLog,
): Promise<readonly string[]> {
  const day = await busiestDay(api, catalog, log);
  const facts = { customer: log.customer, startDate: day.window_start };
  const subscription = await subscribe(api, catalog, facts);
  const preview = await api.post<{ readonly line_items: readonly Line[] }>('/invoices/preview', {
    subscription_id: subscription.id,
    period_start: day.window_start,
    period_end: day.window_end,
    explain: true,
  });
  const [line] = preview.line_items;
  if (line === undefined) return ['the preview has no line'];
  const ids = subscription.line_items[0]?.commitment_time_buckets.map(({ id }) => id) ?? [];
  const windows = line.explanation.windows.items;
  const date = windows[0]?.local_start.slice(0, 10) ?? '';
  console.log(`\n${pc.bold(`Hourly commitments of ${log.customer} on ${date} in ${ZONE}`)}`);
  printWindows(windows, (id) => NAMES[ids.indexOf(id ?? '')] ?? '');
  const charge = sumOf(windows.map((window) => window.charge));
  console.log(`The invoice line has ${line.quantity} requests and ${line.amount} USD.`);
  const rounded = charge.toDecimalPlaces(2, Decimal.ROUND_HALF_UP).toFixed(2);
  const wrong = disagreements(windows, log);
  return rounded === line.amount ? wrong : [...wrong, `the hours add up to ${plain(charge)}`];
}
