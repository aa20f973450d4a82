import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { build, type Histogram } from 'hdr-histogram-js';
import { ApiClient } from '../../cli/demo/api-client.js';
import { createCustomers } from '../../cli/demo/customers.js';
import { saturate, saturateWarm, type PacedLoad, type Target } from './load/drive.js';
import { CANARY_CUSTOMER, LOAD_CUSTOMERS, loadCustomer } from './load/load-identity.js';
import { startYardstick } from './load/start-yardstick.js';
import { startProduct, type Product } from './programs.js';
import {
  atLeast,
  atMost,
  grouped,
  type Finding,
  type Measurement,
  type Plot,
  type Progress,
  type Section,
  type SpeedOptions,
} from './section.js';
import { sendBulk } from './send-bulk.js';
import { watchVisibility, type Visibility } from './visibility-lag.js';

const SINGLE = { path: '/v1/events', eventsPerRequest: 1, connections: 64 } as const;
const BULK = { path: '/v1/events/bulk', eventsPerRequest: 500, connections: 16 } as const;
const POLL_MS = 20;
const VISIBLE_TIMEOUT_MS = 120_000;
const FLUSH_DELAY_MS = 200;
const BULK_EVENTS = 100_000;
const QUERIES = 300;
/** Rates of other products, relative to the bare node:http server of the same run. */
const OPENMETER_SINGLES = 5_150 / 26_500;
const FLEXPRICE_BULK = 28_000 / 575_000;
const FLEXPRICE_BULK_VISIBLE = 7_500;
const OPENMETER_SINGLES_VISIBLE = 3_800;

const ALL_TIME = { start_time: '1970-01-01T00:00:00Z', end_time: '2200-01-01T00:00:00Z' };

/** The product with one meter and the customers of the load, and how many events it was sent. */
class Session {
  #sent = 0;

  private constructor(
    readonly product: Product,
    readonly api: ApiClient,
    readonly meterId: string,
  ) {}

  static async open(
    directory: string,
    log: SpeedOptions['log'],
    progress: Progress,
  ): Promise<Session> {
    const product = await startProduct(directory, log);
    const api = new ApiClient(`${product.url}/v1`, product.target.apiKey);
    const { id } = await api.post<{ readonly id: string }>('/meters', {
      name: 'Load',
      event_name: 'api.request',
      aggregation: { type: 'COUNT' },
    });
    progress(0.02, 'customers');
    const customers = Array.from({ length: LOAD_CUSTOMERS }, (_, index) => loadCustomer(index));
    await createCustomers(api, [...customers, CANARY_CUSTOMER], () => undefined);
    return new Session(product, api, id);
  }

  get target(): Target {
    return this.product.target;
  }

  async visible(): Promise<number> {
    const body = { meter_id: this.meterId, ...ALL_TIME };
    const { value } = await this.api.post<{ readonly value: string }>('/events/usage/meter', body);
    return Number(value);
  }

  /** Waits until exactly the events that were sent are visible. */
  async settle(sent: number): Promise<void> {
    this.#sent += sent;
    const deadline = performance.now() + VISIBLE_TIMEOUT_MS;
    let visible = 0;
    while (visible < this.#sent && performance.now() < deadline) {
      visible = await this.visible();
      if (visible < this.#sent) await delay(POLL_MS);
    }
    if (visible !== this.#sent) throw new Error(`sent ${this.#sent}, visible ${visible}`);
  }

  /** Measures the visibility lag at a steady rate, then waits until all events are visible. */
  async watch(load: PacedLoad): Promise<Visibility> {
    const watched = await watchVisibility(this, load);
    await this.settle(watched.sent);
    return watched;
  }

  get sent(): number {
    return this.#sent;
  }
}

const toBeat = (what: string): Pick<Finding, 'id' | 'what'> => ({ id: 'to beat', what });

/** Bulk and singles from the first send until all is visible, and the rates of accepting. */
async function measureRates(session: Session, seconds: number, progress: Progress) {
  const { target } = session;
  const yardstick = await startYardstick();
  try {
    progress(0.1, `${grouped(BULK_EVENTS)} in bulk until all are visible`);
    const bulkStartedAt = performance.now();
    await sendBulk(target, { events: BULK_EVENTS });
    await session.settle(BULK_EVENTS);
    const bulkVisible = BULK_EVENTS / ((performance.now() - bulkStartedAt) / 1000);
    progress(0.2, 'bare node:http');
    // Warmed up, as the product is after a hundred thousand events.
    const bareSingle = (await saturateWarm(yardstick.target, { ...SINGLE, seconds })).outcome;
    const bareBulk = (await saturateWarm(yardstick.target, { ...BULK, seconds })).outcome;
    progress(0.35, 'singles until all are visible');
    await session.settle((await saturate(target, { ...SINGLE, seconds: 2 })).acceptedEvents);
    const singlesStartedAt = performance.now();
    const single = await saturate(target, { ...SINGLE, seconds });
    await session.settle(single.acceptedEvents);
    const singleVisible = single.acceptedEvents / ((performance.now() - singlesStartedAt) / 1000);
    progress(0.5, 'bulk');
    const bulk = await saturate(target, { ...BULK, seconds });
    await session.settle(bulk.acceptedEvents);
    const singleRatio = single.eventsPerSecond / bareSingle.eventsPerSecond;
    const bulkRatio = bulk.eventsPerSecond / bareBulk.eventsPerSecond;
    return {
      findings: [
        atLeast(
          toBeat('singles, of bare node:http (3 × OpenMeter)'),
          singleRatio,
          3 * OPENMETER_SINGLES,
        ),
        atLeast(toBeat('bulk, of bare node:http (6 × FlexPrice)'), bulkRatio, 6 * FLEXPRICE_BULK),
        atLeast(
          toBeat('100,000 in bulk until all visible, ev/s (10 × FlexPrice)'),
          bulkVisible,
          10 * FLEXPRICE_BULK_VISIBLE,
        ),
        atLeast(
          toBeat('singles until all visible, ev/s (4 × OpenMeter)'),
          singleVisible,
          4 * OPENMETER_SINGLES_VISIBLE,
        ),
      ],
      note: `Bare node:http: ${grouped(bareSingle.eventsPerSecond)} singles/s, ${grouped(bareBulk.eventsPerSecond)} events/s in bulk; ours: ${grouped(single.eventsPerSecond)} and ${grouped(bulk.eventsPerSecond)}.`,
    };
  } finally {
    yardstick.process.stdin?.end();
  }
}

/** A customer's month, asked again and again: time in the client, whole request. */
async function measureQuery(session: Session): Promise<Histogram> {
  const times = build({ highestTrackableValue: 60_000_000, useWebAssembly: false });
  const month = { start_time: '2026-11-01T00:00:00Z', end_time: '2026-12-01T00:00:00Z' };
  for (let index = 0; index < QUERIES; index += 1) {
    const customer = loadCustomer((index * 37) % LOAD_CUSTOMERS);
    const startedAt = performance.now();
    await session.api.post('/events/usage/meter', {
      meter_id: session.meterId,
      external_customer_id: customer,
      ...month,
    });
    times.recordValue(Math.round((performance.now() - startedAt) * 1000));
  }
  return times;
}

function sectionOf(measured: {
  readonly fast: Visibility;
  readonly slow: Visibility;
  readonly query: Histogram;
  readonly rates: readonly Finding[];
}): Pick<Section, 'findings' | 'plots'> {
  const { fast, slow, query, rates } = measured;
  const p99 = (lags: Histogram): number => lags.getValueAtPercentile(99);
  const queryMs = query.getValueAtPercentile(50) / 1000;
  const visible = { id: 'P4', what: 'accepted to visible at 20,000 ev/s, p99', unit: 'ms' };
  const visibleSlow = { ...toBeat('accepted to visible at 2,000 ev/s, p99'), unit: 'ms' };
  const month = { ...toBeat('a customer’s month, median of the whole request'), unit: 'ms' };
  const plotOf = (title: string, { plot: series }: Visibility): Plot => ({
    title,
    xLabel: 'seconds',
    yLabel: 'watched events',
    series,
  });
  return {
    findings: [
      atMost(visible, p99(fast.lags), FLUSH_DELAY_MS + 1_000),
      ...rates,
      atMost(visibleSlow, p99(slow.lags), 1_000),
      atMost(month, queryMs, 5),
    ],
    plots: [plotOf('At 20,000 events a second', fast), plotOf('At 2,000 events a second', slow)],
  };
}

/** P4 and the table of peers: the whole product on one port, as `npm start` runs it. */
export const measureVisibility: Measurement = async ({ seconds, log }, progress) => {
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-speed-'));
  const session = await Session.open(directory, log, progress);
  try {
    const rates = await measureRates(session, seconds, progress);
    progress(0.6, '20,000 events a second');
    const fast = await session.watch({
      path: '/v1/events/bulk',
      eventsPerRequest: 100,
      connections: 16,
      seconds: 2 * seconds,
      requestsPerSecond: 200,
    });
    progress(0.8, '2,000 events a second');
    const slow = await session.watch({ ...SINGLE, seconds, requestsPerSecond: 2_000 });
    progress(0.95, 'a customer’s month');
    const query = await measureQuery(session);
    return {
      title: 'The whole product on one port',
      ...sectionOf({ fast, slow, query, rates: rates.findings }),
      notes: [rates.note, `Count check: ${grouped(session.sent)} sent, as many visible.`],
    };
  } finally {
    await session.product.stop();
    await rm(directory, { recursive: true, force: true });
  }
};
