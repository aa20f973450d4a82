import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { tableLines } from '../../../cli/demo/tables.js';
import { loadRdKafka } from '../../../event-log/kafka/rdkafka.js';
import { openKafkaTopic } from '../../../event-log/kafka/topic.js';
import { projectRoot } from '../../../runtime/project.js';
import { makeCluster } from '../../proofs/faults/engines/fault-engines.js';
import { medianOf } from '../median.js';
import { cpuSecondsOf, productProcesses } from '../processes.js';
import type { Produced, Stretch } from '../producers/stretch.js';
import { writeResults } from './write-results.js';

/**
 * What a single event costs on three brokers, each record on all of them: CPU of the process that
 * writes and of each broker. Each argument is the folder of a build; they are compared with the
 * first in short turns, so that what else the machine does falls on all alike (D-021).
 * `npm run measure -- kafka-producers [BUILD …] [--rounds 10] [--seconds 3] [--rates 1000,4000]`.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '3' },
    rates: { type: 'string', default: '1000,4000' },
  },
});
const BUILDS = positionals.length === 0 ? [projectRoot] : positionals.map((path) => resolve(path));
const BROKERS = 3;
const TOPIC = 'measured.singles';
const PARTITIONS = 12;
const PAUSE_MS = 1_000;
const WARM_PER_SECOND = 4_000;
const WARM_SECONDS = 6;
const PROGRAM = join('dist', 'load-tests', 'speed', 'producers', 'produce-singles.js');

type Writer = { readonly build: string; readonly child: ChildProcess };
/** Microseconds of CPU a single. */
type Cost = {
  readonly build: string;
  readonly perSecond: number;
  readonly writer: number;
  readonly brokers: readonly number[];
  readonly p50Ms: number;
  readonly p99Ms: number;
};

async function startWriter(build: string, brokers: string): Promise<Writer> {
  const child = fork(join(build, PROGRAM), [brokers, TOPIC], { cwd: build });
  await once(child, 'message');
  return { build, child };
}

async function run({ child }: Writer, stretch: Stretch): Promise<Produced> {
  const answer = once(child, 'message');
  child.send(stretch);
  const [produced] = (await answer) as [Produced];
  if (produced.failed > 0) throw new Error(`${produced.failed} singles were not acknowledged`);
  return produced;
}

const brokerPids = async (): Promise<readonly number[]> =>
  (await productProcesses(process.pid))
    .filter(({ part }) => part === 'kafka')
    .map(({ pid }) => pid);

async function brokerSeconds(pids: readonly number[]): Promise<readonly number[]> {
  return Promise.all(
    pids.map(async (pid) => (await cpuSecondsOf([{ pid, part: 'kafka' }])).get('kafka') ?? 0),
  );
}

/** CPU seconds that each broker uses in a second without records. */
async function idleOf(pids: readonly number[], seconds: number): Promise<readonly number[]> {
  const before = await brokerSeconds(pids);
  await delay(seconds * 1_000);
  const after = await brokerSeconds(pids);
  return after.map((used, index) => (used - (before[index] ?? 0)) / seconds);
}

async function measure(
  writer: Writer,
  stretch: Stretch,
  pids: readonly number[],
): Promise<Cost & { readonly seconds: number }> {
  const before = await brokerSeconds(pids);
  const startedAt = performance.now();
  const produced = await run(writer, stretch);
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = await brokerSeconds(pids);
  const perThousand = (used: number): number => (used * 1_000_000) / produced.appended;
  return {
    build: writer.build,
    perSecond: stretch.perSecond,
    seconds,
    writer: perThousand(produced.cpuSeconds),
    brokers: after.map((used, index) => perThousand(used - (before[index] ?? 0))),
    p50Ms: produced.p50Ms,
    p99Ms: produced.p99Ms,
  };
}

/** Each writer at each rate, one after the other. */
async function measureRound(
  writers: readonly Writer[],
  pids: readonly number[],
): Promise<readonly Cost[]> {
  const costs: Cost[] = [];
  for (const perSecond of values.rates.split(',').map(Number)) {
    for (const writer of writers) {
      const cost = await measure(writer, { perSecond, seconds: Number(values.seconds) }, pids);
      costs.push(cost);
      const parts = [cost.writer, ...cost.brokers].map(figure).join(' + ');
      console.log(`${perSecond}/s ${writer.build}: ${parts} = ${figure(totalOf(cost))}`);
      await delay(PAUSE_MS);
    }
  }
  return costs;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
const totalOf = ({ writer, brokers }: Cost): number => writer + sum(brokers);
const figure = (value: number): string => value.toFixed(1);

function rowOf(build: string, perSecond: number, costs: readonly Cost[]): readonly string[] {
  const own = costs.filter((cost) => cost.build === build && cost.perSecond === perSecond);
  const median = (of: (cost: Cost) => number): number => medianOf(own.map(of));
  const first = costs.filter((cost) => cost.build === BUILDS[0]);
  const ratios = own.map((cost, round) => {
    const beside = first.filter((other) => other.perSecond === perSecond)[round];
    return beside === undefined ? Number.NaN : totalOf(cost) / totalOf(beside);
  });
  return [
    String(perSecond),
    build,
    figure(median((cost) => cost.writer)),
    ...Array.from({ length: BROKERS }, (_none, at) =>
      figure(median(({ brokers }) => brokers[at] ?? Number.NaN)),
    ),
    figure(median(totalOf)),
    `${medianOf(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}..${Math.max(...ratios).toFixed(2)})`,
    `${figure(median(({ p50Ms }) => p50Ms))} / ${figure(median(({ p99Ms }) => p99Ms))}`,
  ];
}

const directory = await mkdtemp(join(tmpdir(), 'minutebook-producers-'));
const cluster = await makeCluster(directory, BROKERS);
const writers: Writer[] = [];
try {
  await cluster.start(1);
  const security = { tls: null, sasl: null };
  const place = { brokers: cluster.brokers, topic: TOPIC, security };
  await openKafkaTopic(await loadRdKafka(), {
    ...place,
    ...{ partitionCount: PARTITIONS, replicas: BROKERS },
  });
  for (const build of BUILDS) writers.push(await startWriter(build, cluster.brokers));
  const pids = await brokerPids();
  if (pids.length !== BROKERS) throw new Error(`${pids.length} brokers run`);
  for (const writer of writers) {
    await run(writer, { perSecond: WARM_PER_SECOND, seconds: WARM_SECONDS });
  }
  const costs: Cost[] = [];
  const idle: number[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    idle.push(sum(await idleOf(pids, Number(values.seconds))));
    costs.push(...(await measureRound(round % 2 === 0 ? writers : writers.toReversed(), pids)));
  }
  const rows = values.rates
    .split(',')
    .flatMap((rate) => BUILDS.map((build) => rowOf(build, Number(rate), costs)));
  const names = Array.from({ length: BROKERS }, (_none, index) => `broker ${index + 1}`);
  const head = ['a second', 'CPU µs a single', 'writer', ...names, 'all', 'of first', 'p50/p99 ms'];
  for (const line of tableLines(head, rows)) console.log(line);
  console.log(`idle brokers together: ${figure(medianOf(idle) * 1_000)} ms of CPU a second`);
  await writeResults('kafka-producers', { seconds: values.seconds, costs, idle });
} finally {
  for (const { child } of writers) child.disconnect();
  await cluster.stop();
  await rm(directory, { recursive: true, force: true });
}
