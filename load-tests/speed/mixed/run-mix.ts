import { ApiClient } from '../../../cli/look/api-client.js';
import type { ClickHouse } from '../../../clickhouse/client.js';
import { readEventTails } from '../load/access-log-properties.js';
import type { Offered } from '../load/open-loop.js';
import type { Product } from '../programs.js';
import { UsageQuestions } from './ask-usage.js';
import { createMixCatalog } from './catalog.js';
import { MeterChanges } from './change-meters.js';
import { compareBooks, whenDrained, whenVisible, type Comparison } from './check-books.js';
import { MinuteLatencies } from './minutes.js';
import { MixSender, type Kind } from './send-mix.js';
import { SentBooks } from './sent-books.js';
import { MachineWatch } from './watch-machine.js';

export type MixPlan = {
  readonly minutes: number;
  /** Events a second of singles and bulk together; null measures the machine's rate first. */
  readonly eventsPerSecond: number | null;
  /** Part of the events that come one a request. */
  readonly singlesShare: number;
  /** A meter is made or changed every so many seconds. */
  readonly meterSeconds: number;
  readonly onProgress: (fraction: number, text: string) => void;
};

export type MixResult = {
  readonly eventsPerSecond: number;
  /** Events a second that the machine did before the run; null when that was not measured. */
  readonly measured: number | null;
  readonly offered: Readonly<Record<Kind, Offered>>;
  readonly statuses: ReadonlyMap<number, number>;
  readonly latencies: MinuteLatencies;
  readonly behind: readonly (readonly [minute: number, seconds: number])[];
  readonly wrongAnswers: readonly string[];
  /** Calls beside the events that the product refused. */
  readonly failures: readonly string[];
  readonly changes: MeterChanges['counts'];
  readonly drainSeconds: number;
  readonly comparisons: readonly Comparison[];
  readonly watch: MachineWatch;
};

const WARM_SECONDS = 10;
const MEASURE_SECONDS = 30;
/** Timestamps of the events before the run are as if so many came in a second. */
const PACE_BEFORE = 20_000;
/** Part of the machine's rate at which the load runs. */
const OF_MACHINE = 0.5;
const DRAIN_TIMEOUT_MS = 600_000;

/** Everything one run needs, in one place. */
type World = {
  readonly plan: MixPlan;
  readonly sender: MixSender;
  readonly books: Parameters<typeof compareBooks>[0];
  /** Answers that cannot be right, from before the run. */
  readonly wrong: string[];
};

type Beside = (signal: AbortSignal) => Promise<void>;

/** What goes on while events are sent: questions about usage, and meters that change. */
function askAndChange({ plan, books }: World, questions: UsageQuestions): readonly Beside[] {
  return [
    (signal) => questions.run(signal),
    (signal) => books.changes.run(plan.meterSeconds, signal),
  ];
}

/** Does the work while the others run. One that fails ends the work, and its error is thrown. */
async function beside<T>(
  others: readonly Beside[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const running = Promise.all(others.map((other) => other(over.signal)));
  running.catch(() => over.abort());
  const result = await work(over.signal).finally(() => over.abort());
  await running;
  return result;
}

/**
 * Events a second that the machine does of this very load, meters that change and questions
 * included, from the first send until all are visible.
 */
async function measureMachine(world: World): Promise<number> {
  const { plan, sender, books, wrong } = world;
  plan.onProgress(0.01, 'measuring the rate of the machine');
  const questions = new UsageQuestions({ ...books, onAnswer: () => undefined });
  const rate = await beside(askAndChange(world, questions), async () => {
    await sender.saturate(plan.singlesShare, WARM_SECONDS);
    const before = books.books.totals.accepted;
    const startedAt = performance.now();
    await sender.saturate(plan.singlesShare, MEASURE_SECONDS);
    const tooMany = await whenVisible(books, DRAIN_TIMEOUT_MS);
    if (tooMany > 0) wrong.push(`before the run: an answer had ${tooMany} requests too many`);
    const seconds = (performance.now() - startedAt) / 1_000;
    return (books.books.totals.accepted - before) / seconds;
  });
  wrong.push(...questions.wrong);
  return rate;
}

async function sendBoth(
  { plan, sender }: World,
  eventsPerSecond: number,
  signal: AbortSignal,
): Promise<Readonly<Record<Kind, Offered>>> {
  const until = { seconds: 60 * plan.minutes, signal };
  const singles = eventsPerSecond * plan.singlesShare;
  const [single, bulk] = await Promise.all([
    sender.atRate('single', singles, until),
    sender.atRate('bulk', eventsPerSecond - singles, until),
  ]);
  return { single, bulk };
}

/** The world of a run: customers and meters exist, and nothing has been sent. */
async function openWorld(
  product: Product,
  plan: MixPlan,
  onAnswer: (kind: Kind, milliseconds: number) => void,
): Promise<World> {
  const api = new ApiClient(`${product.url}/v1`, product.target.apiKey);
  plan.onProgress(0, 'customers and meters');
  const catalog = await createMixCatalog(api);
  const tails = await readEventTails();
  const books = new SentBooks(tails);
  const sender = new MixSender({ target: product.target, books, tails, onAnswer });
  const changes = new MeterChanges(api);
  const all = { api, catalog, books, changes, startMs: Date.now() };
  return { plan, sender, books: all, wrong: [] };
}

type Load = {
  readonly world: World;
  readonly clickhouse: ClickHouse;
  readonly latencies: MinuteLatencies;
  readonly eventsPerSecond: number;
};

/** Sends and asks for the planned minutes. */
async function runLoad({ world, clickhouse, latencies, eventsPerSecond }: Load) {
  const { plan, books } = world;
  const questions = new UsageQuestions({
    ...books,
    onAnswer: (question, milliseconds) => latencies.record(question, milliseconds),
  });
  const behind: (readonly [number, number])[] = [];
  const watch = new MachineWatch({
    root: process.pid,
    clickhouse,
    onMinute: (minute) => {
      latencies.endMinute(minute);
      behind.push([minute, questions.behindSeconds]);
      const accepted = books.books.totals.accepted.toLocaleString('en');
      const text = `minute ${minute}, ${accepted} events`;
      plan.onProgress(Math.min(0.95, minute / plan.minutes), text);
    },
  });
  const others = [...askAndChange(world, questions), (signal: AbortSignal) => watch.run(signal)];
  const offered = await beside(others, (signal) => sendBoth(world, eventsPerSecond, signal));
  const failures = [...books.changes.failures, ...watch.failures];
  return { offered, behind, watch, failures, wrongAnswers: [...world.wrong, ...questions.wrong] };
}

/** Runs the mixed load against a running product and compares all books at the end. */
export async function runMix(
  product: Product,
  clickhouse: ClickHouse,
  plan: MixPlan,
): Promise<MixResult> {
  const latencies = new MinuteLatencies();
  let isMeasuring = true;
  const world = await openWorld(product, plan, (kind, milliseconds) => {
    if (!isMeasuring) latencies.record(kind, milliseconds);
  });
  const { sender, books } = world;
  sender.setPace(PACE_BEFORE, Date.now());
  const measured = plan.eventsPerSecond === null ? await measureMachine(world) : null;
  isMeasuring = false;
  const eventsPerSecond = measured === null ? (plan.eventsPerSecond ?? 0) : OF_MACHINE * measured;
  sender.setPace(eventsPerSecond, Date.now());
  const loaded = await runLoad({ world, clickhouse, latencies, eventsPerSecond });
  plan.onProgress(0.96, 'waiting until all are counted');
  const stoppedAt = performance.now();
  await sender.settle();
  // One that does not drain is shown by the comparison below.
  await whenDrained(books, DRAIN_TIMEOUT_MS).catch(() => undefined);
  const drainSeconds = (performance.now() - stoppedAt) / 1_000;
  plan.onProgress(0.98, 'comparing the books');
  const comparisons = await compareBooks(books, DRAIN_TIMEOUT_MS);
  const { statuses } = sender;
  const changes = books.changes.counts;
  return {
    eventsPerSecond,
    measured,
    statuses,
    latencies,
    changes,
    ...loaded,
    drainSeconds,
    comparisons,
  };
}
