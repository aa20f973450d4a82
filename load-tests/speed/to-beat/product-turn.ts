import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Histogram } from 'hdr-histogram-js';
import { atRate, saturate, type Load } from '../load/drive.js';
import { HttpConnection } from '../load/http-connection.js';
import { loadCustomer } from '../load/load-identity.js';
import { RateNotOffered } from '../load/open-loop.js';
import { cpuSecondsOf, memoryOf, productProcesses, type Part } from '../processes.js';
import type { SpeedOptions } from '../section.js';
import { Session } from '../session.js';
import { watchVisibility } from '../visibility-lag.js';
import type { FigureName, ProductTurn } from './figures.js';

export const SINGLE = { path: '/v1/events', eventsPerRequest: 1, connections: 64 } as const;
export const BULK = { path: '/v1/events/bulk', eventsPerRequest: 500, connections: 8 } as const;

export type Sizes = {
  readonly seconds: number;
  readonly bulkEvents: number;
  readonly singleEvents: number;
  /** Events among which a customer's month is read. */
  readonly storedEvents: number;
  readonly calls: number;
};

const CUSTOMERS = 1_753;
const PACED_PER_SECOND = 2_000;
const CALLS_AT_ONCE = 8;
const WARM_UP_SECONDS = 6;
const MEMORY_SAMPLE_MS = 1_000;
/** More than any stretch of a fixed number of requests takes. */
const NO_END_SECONDS = 3_600;
/** All events of the load that are not watched lie in it (load-identity.ts). */
const MONTH = { start_time: '2026-11-01T00:00:00Z', end_time: '2026-12-01T00:00:00Z' };

/** What each part of the product, its engines and the broker take; the client is this process. */
type ByPart = ReadonlyMap<Part, number>;

const sumOf = (parts: ByPart): number => [...parts.values()].reduce((sum, each) => sum + each, 0);

/** The parts, the greatest first. */
function partsText(parts: ByPart): string {
  return [...parts]
    .toSorted(([, one], [, other]) => other - one)
    .map(([part, value]) => `${part} ${value.toFixed(0)}`)
    .join(', ');
}

async function cpuSeconds(): Promise<ByPart> {
  return cpuSecondsOf(await productProcesses(process.pid));
}

async function proportionalMegabytes(): Promise<ByPart> {
  const parts = new Map<Part, number>();
  for (const { pid, part } of await productProcesses(process.pid)) {
    const { proportional = 0 } = (await memoryOf(pid)) ?? {};
    parts.set(part, (parts.get(part) ?? 0) + proportional);
  }
  return parts;
}

/**
 * Measures the memory of all programs and engines once a second. Calling what it returns ends that,
 * and gives the measurement at which they took most together.
 */
function watchMemory(): () => Promise<ByPart> {
  let most: ByPart = new Map();
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const sample = await proportionalMegabytes();
      if (sumOf(sample) > sumOf(most)) most = sample;
      await new Promise((resolve) => setTimeout(resolve, MEMORY_SAMPLE_MS));
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    return most;
  };
}

type Stretch = {
  /** Events a second until the last 202, and until all are visible. */
  readonly accepted: number;
  readonly visible: number;
  readonly p99Ms: number;
  /** CPU seconds a million events. */
  readonly cpu: ByPart;
};

/** Sends as fast as answers come, then waits until all is visible. */
async function sendAll(session: Session, load: Load): Promise<Stretch> {
  const before = { accepted: session.accepted, cpu: await cpuSeconds() };
  const startedAt = performance.now();
  const outcome = await saturate(session.target, { ...load, ...session.counting });
  await session.settle();
  const seconds = (performance.now() - startedAt) / 1000;
  const events = session.accepted - before.accepted;
  const cpu = [...(await cpuSeconds())].map(([part, used]): [Part, number] => [
    part,
    ((used - (before.cpu.get(part) ?? 0)) / events) * 1e6,
  ]);
  return {
    accepted: outcome.eventsPerSecond,
    visible: events / seconds,
    p99Ms: outcome.latencyMicros.getValueAtPercentile(99) / 1000,
    cpu: new Map(cpu),
  };
}

const createTimes = (): Histogram =>
  build({ highestTrackableValue: 60_000_000, useWebAssembly: false });
const msAt = (times: Histogram, at: number): number => times.getValueAtPercentile(at) / 1000;

/** Asks so many callers at once for one customer's month after the other. */
async function askMonths(session: Session, calls: number, callers: number): Promise<Histogram> {
  const times = createTimes();
  let call = 0;
  const ask = async (): Promise<void> => {
    const connection = await HttpConnection.open(session.target.port, session.target.host);
    while (call < calls) {
      const customer = loadCustomer((call * 37) % CUSTOMERS);
      call += 1;
      const startedAt = performance.now();
      await session.askUsage(connection, MONTH, customer);
      times.recordValue(Math.round((performance.now() - startedAt) * 1000));
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: callers }, ask));
  return times;
}

/** Everybody's total, asked again and again while events come in at a fixed rate. */
async function askTotals(session: Session, seconds: number): Promise<Histogram> {
  const times = createTimes();
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      await session.usage(MONTH);
      times.recordValue(Math.round((performance.now() - startedAt) * 1000));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  const load = { ...SINGLE, seconds, requestsPerSecond: PACED_PER_SECOND, ...session.counting };
  await atRate(session.target, load).finally(() => (isOver = true));
  await asking;
  return times;
}

type Figures = Partial<Record<FigureName, number>>;

/** Fills in the figures; answers what each part of the product took for them. */
async function measureSending(
  session: Session,
  sizes: Sizes,
  figures: Figures,
): Promise<readonly string[]> {
  const { bulkEvents, singleEvents, seconds } = sizes;
  const requests = bulkEvents / BULK.eventsPerRequest;
  await sendAll(session, { ...BULK, seconds: WARM_UP_SECONDS });
  await sendAll(session, { ...SINGLE, seconds: WARM_UP_SECONDS });
  const bulkVisible = await sendAll(session, { ...BULK, seconds: NO_END_SECONDS, requests });
  const bulk = await sendAll(session, { ...BULK, seconds });
  const singles = await sendAll(session, {
    ...{ ...SINGLE, seconds: NO_END_SECONDS },
    requests: singleEvents,
  });
  figures.bulkVisible = bulkVisible.visible;
  figures.bulk = bulk.accepted;
  figures.cpuBulk = sumOf(bulk.cpu);
  figures.singles = singles.accepted;
  figures.singlesP99 = singles.p99Ms;
  figures.singlesVisible = singles.visible;
  figures.cpuSingles = sumOf(singles.cpu);
  return [
    `CPU seconds a million singles: ${partsText(singles.cpu)}`,
    `CPU seconds a million in bulk: ${partsText(bulk.cpu)}`,
  ];
}

/** Both at a fixed rate: without a figure, and with the reason, when it was not offered. */
async function measurePaced(
  session: Session,
  seconds: number,
  figures: Figures,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const orSay = async (work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => {
      if (!(error instanceof RateNotOffered)) throw error;
      problems.push(error.message);
    });
    await session.settle();
  };
  await orSay(async () => {
    const load = { ...SINGLE, seconds, requestsPerSecond: PACED_PER_SECOND, ...session.counting };
    const { lags } = await watchVisibility(session, load);
    figures.visibleP50 = lags.getValueAtPercentile(50);
    figures.visibleP99 = lags.getValueAtPercentile(99);
  });
  await orSay(async () => {
    figures.total = msAt(await askTotals(session, seconds), 50);
  });
  return problems;
}

async function measureMonths(session: Session, sizes: Sizes, figures: Figures): Promise<void> {
  const { storedEvents, calls } = sizes;
  const missing = Math.max(0, storedEvents - session.accepted);
  if (missing > 0) {
    const requests = Math.ceil(missing / BULK.eventsPerRequest);
    await sendAll(session, { ...BULK, seconds: NO_END_SECONDS, requests });
  }
  await askMonths(session, calls / 10, 1);
  const one = await askMonths(session, calls, 1);
  const atOnce = await askMonths(session, calls, CALLS_AT_ONCE);
  figures.month = msAt(one, 50);
  figures.monthP99 = msAt(one, 99);
  figures.monthAtOnce = msAt(atOnce, 50);
}

/**
 * One turn of the whole product: fresh, with its own engines, from start to end, in a new folder
 * within `parent`. The caller removes it when all is measured: on some file systems the removal of
 * many files makes the creation of others slow for minutes, and ClickHouse creates many.
 * @throws Error when a request was not answered 202 or the counts are wrong.
 */
export async function measureProduct(
  log: SpeedOptions['log'],
  sizes: Sizes,
  parent: string,
): Promise<ProductTurn> {
  const directory = await mkdtemp(join(parent, 'product-'));
  const session = await Session.open(directory, { log, customers: CUSTOMERS });
  const stopMemory = watchMemory();
  const figures: Figures = {};
  try {
    const cpu = await measureSending(session, sizes, figures);
    const problems = await measurePaced(session, sizes.seconds, figures);
    await measureMonths(session, sizes, figures);
    const memory = await stopMemory();
    figures.memory = sumOf(memory);
    const byPart = [...cpu, `memory at its greatest, MB of PSS: ${partsText(memory)}`];
    return { figures, accepted: session.accepted, notes: [...problems, ...byPart] };
  } finally {
    await stopMemory();
    await session.product.stop();
  }
}
