import { build, type Histogram } from 'hdr-histogram-js';
import { ApiClient } from '../../cli/look/api-client.js';
import { assertPresent } from '../../runtime/failure.js';
import {
  chargeByHand,
  DAY,
  dollarsOf,
  moneyOf,
  NIGHT,
  OUTSIDE,
  OVERAGE_FACTOR,
} from './daily-commitment.js';
import {
  createMonthCustomers,
  customerName,
  fillMonths,
  findPlaces,
  MINUTES_OF_MONTH,
  MONTH_END_MS,
  MONTH_START_MS,
  usedBy,
  usedIn,
} from './minute-rows.js';
import { onBench } from './programs.js';
import { pricingMedianMs } from './pure-pricing.js';
import { atMost, grouped, type Measurement, type Progress, type Section } from './section.js';

const CUSTOMERS = 5;
const TIERED_LINES = 9;
const TIER_END = 1_000_000;
const CALLS = 150;
const WARM_UP_CALLS = 20;
const P99_MS_MAX = 150;
/** The median of a preview beside P8 of the same run. */
const PRICING_TIMES_MAX = 3;
const PERCENTILES = [50, 75, 90, 95, 99, 100];

type Created = { readonly id: string };
type Preview = { readonly line_items: readonly { readonly amount: string }[] };

/** 0.0001 for each of the first million, 0.00005 beyond, in thousandths of a cent. */
function tieredByHand(): string {
  const used = usedBy(0);
  return moneyOf(BigInt(Math.min(used, TIER_END) * 10 + Math.max(0, used - TIER_END) * 5));
}

/** Nine tiered prices and one of minutes with a commitment; returns the meters and the latter. */
export async function createPlan(api: ApiClient) {
  const { id: planId } = await api.post<Created>('/plans', { name: 'Ten lines' });
  const createMeter = (members: object): Promise<Created> =>
    api.post<Created>('/meters', { name: 'Calls', event_name: 'call', ...members });
  const createPrice = (meterId: string, members: object): Promise<Created> =>
    api.post<Created>('/prices', {
      entity_id: planId,
      meter_id: meterId,
      currency: 'usd',
      ...members,
    });
  const meterIds: string[] = [];
  for (let line = 0; line < TIERED_LINES; line += 1) {
    const { id } = await createMeter({ aggregation: { type: 'COUNT' } });
    meterIds.push(id);
    const tiers = [{ up_to: TIER_END, unit_amount: '0.0001' }, { unit_amount: '0.00005' }];
    await createPrice(id, { tier_mode: 'SLAB', tiers });
  }
  const minutes = await createMeter({ aggregation: { type: 'COUNT', bucket_size: 'MINUTE' } });
  meterIds.push(minutes.id);
  const { id: priceId } = await createPrice(minutes.id, { amount: dollarsOf(OUTSIDE.unitPrice) });
  return { planId, meterIds, priceId };
}

export async function subscribe(
  api: ApiClient,
  { planId, priceId }: { readonly planId: string; readonly priceId: string },
): Promise<string> {
  const { id } = await api.post<Created>('/subscriptions', {
    external_customer_id: customerName(0),
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: new Date(MONTH_START_MS).toISOString(),
    line_item_commitments: {
      [priceId]: {
        commitment_amount: dollarsOf(OUTSIDE.committed),
        commitment_overage_factor: OVERAGE_FACTOR,
        commitment_true_up_enabled: true,
        commitment_windowed: true,
        commitment_time_buckets: [DAY, NIGHT].map((rule) => ({
          start: { hour: rule.startHour },
          end: { hour: rule.endHour },
          commitment_type: 'amount',
          commitment_value: dollarsOf(rule.committed),
          overage_factor: Number(OVERAGE_FACTOR),
          true_up_enabled: true,
          price: { currency: 'usd', amount: dollarsOf(rule.unitPrice) },
        })),
      },
    },
  });
  return id;
}

type Asked = {
  readonly api: ApiClient;
  readonly subscriptionId: string;
  readonly progress: Progress;
};

/** Every preview must equal the charge that was computed without the product. */
async function timePreviews({ api, subscriptionId, progress }: Asked): Promise<Histogram> {
  const expected = [
    chargeByHand(MINUTES_OF_MONTH, (minute) => usedIn(minute, 0)),
    ...Array.from({ length: TIERED_LINES }, tieredByHand),
  ].toSorted();
  const times = build({ highestTrackableValue: 60_000_000, useWebAssembly: false });
  for (let call = 0; call < WARM_UP_CALLS + CALLS; call += 1) {
    const startedAt = performance.now();
    const { line_items: lines } = await api.post<Preview>('/invoices/preview', {
      subscription_id: subscriptionId,
      period_start: new Date(MONTH_START_MS).toISOString(),
      period_end: new Date(MONTH_END_MS).toISOString(),
    });
    const micros = Math.round((performance.now() - startedAt) * 1000);
    if (call >= WARM_UP_CALLS) times.recordValue(micros);
    const amounts = lines.map(({ amount }) => amount).toSorted();
    if (amounts.join() !== expected.join()) {
      throw new Error(`lines of ${amounts.join()}, by hand ${expected.join()}`);
    }
    progress(0.6 + (0.4 * call) / (WARM_UP_CALLS + CALLS), `${call} previews`);
  }
  return times;
}

function sectionOf(times: Histogram, pricingMs: number): Section {
  const msAt = (percentile: number): number => times.getValueAtPercentile(percentile) / 1000;
  const points = PERCENTILES.map((percentile) => [percentile, msAt(percentile)] as const);
  const p99 = { id: 'P6', what: 'preview of ten usage lines, p99', unit: 'ms' };
  const series = [{ name: 'whole request', points }];
  return {
    title: 'Invoice preview',
    findings: [
      atMost(
        { id: 'P6', what: 'preview, median, of pricing alone (P8)', unit: '×' },
        msAt(50) / pricingMs,
        PRICING_TIMES_MAX,
      ),
      atMost(p99, msAt(99), P99_MS_MAX),
    ],
    plots: [{ title: 'Time of one preview', xLabel: 'percentile', yLabel: 'ms', series }],
    notes: [
      `Nine tiered lines and one of ${grouped(MINUTES_OF_MONTH)} minute windows with a commitment by the hour, median ${msAt(50).toFixed(0)} ms, pricing alone ${pricingMs.toFixed(0)} ms just before; every amount of every preview equals the count by hand.`,
    ],
  };
}

/** P6: the preview of an invoice with ten usage lines over a month of minutes. */
export const measurePreview: Measurement = (_options, progress) =>
  onBench(async (bench, clickhouse) => {
    const billing = await bench.start('billing-api');
    const api = new ApiClient(`${billing.url}/v1`, bench.apiKey);
    await createMonthCustomers(api, CUSTOMERS);
    const plan = await createPlan(api);
    const subscriptionId = await subscribe(api, plan);
    const meters = { eventName: 'call', count: plan.meterIds.length };
    const places = await findPlaces({ bench, clickhouse }, meters);
    for (const [index, meterId] of plan.meterIds.entries()) {
      const place = assertPresent(places.get(meterId), 'the place of a meter');
      await fillMonths(clickhouse, place, { customers: CUSTOMERS });
      progress(0.1 + (0.5 * index) / meters.count, `month ${index + 1} of ${meters.count}`);
    }
    const pricingMs = pricingMedianMs();
    return sectionOf(await timePreviews({ api, subscriptionId, progress }), pricingMs);
  });
