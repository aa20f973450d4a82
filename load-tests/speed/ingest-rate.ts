import { atRate, saturateWarm, type Target } from './load/drive.js';
import type { Outcome } from './load/load-tally.js';
import { RateNotOffered } from './load/open-loop.js';
import { startYardstick } from './load/start-yardstick.js';
import { MemorySampler } from './memory-sampler.js';
import { medianOf, spreadText } from './median.js';
import { Bench } from './programs.js';
import { atLeast, atMost, grouped, type Finding, type Measurement, type Plot } from './section.js';

const SINGLE = { path: '/v1/events', eventsPerRequest: 1, connections: 256 } as const;
const BULK = { path: '/v1/events/bulk', eventsPerRequest: 500, connections: 16 } as const;
/** P1: ours of the bare server, and its p99 at half of that rate. */
const RATIO_MIN = 0.5;
const P99_MS_MAX = 20;
const INGEST_MEGABYTES_MAX = 250;
const PERCENTILES = [50, 75, 90, 95, 99, 99.5, 99.9, 100];

/** Accepted events as the server counts them. */
async function acceptedByServer(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^minutebook_events_accepted_total\S* (\S+)$/m.exec(text)?.[1] ?? Number.NaN);
}

function millisecondsAt(outcome: Outcome, percentile: number): number {
  return outcome.latencyMicros.getValueAtPercentile(percentile) / 1000;
}

function latencyPlot(outcomes: Readonly<Record<string, Outcome>>): Plot {
  const series = Object.entries(outcomes).map(([name, outcome]) => ({
    name,
    points: PERCENTILES.map(
      (percentile) => [percentile, millisecondsAt(outcome, percentile)] as const,
    ),
  }));
  return { title: 'Latency', xLabel: 'percentile', yLabel: 'ms', series };
}

function latenciesOf(turn: Turn | undefined): Readonly<Record<string, Outcome>> {
  if (turn === undefined) return {};
  const { single, paced, bulk } = turn;
  return {
    'singles, saturated': single,
    ...(isOutcome(paced) ? { 'singles, paced': paced } : {}),
    bulk,
  };
}

/** One round: the bare server and ingest in turns. */
type Turn = {
  readonly bareSingle: Outcome;
  readonly single: Outcome;
  /** Null with the reason when the rate was not offered. */
  readonly paced: Outcome | RateNotOffered;
  readonly pacedPerSecond: number;
  readonly bareBulk: Outcome;
  readonly bulk: Outcome;
};

type Run = {
  readonly bare: Target;
  readonly target: Target;
  readonly seconds: number;
  readonly onAccepted: (firstId: number, events: number) => void;
};

async function measureTurn({ bare, target, seconds, onAccepted }: Run): Promise<Turn> {
  const single = { ...SINGLE, seconds, onAccepted };
  const bulk = { ...BULK, seconds, onAccepted };
  const bareSingle = await saturateWarm(bare, { ...SINGLE, seconds });
  const ourSingle = await saturateWarm(target, single);
  const pacedPerSecond = Math.floor(bareSingle.requestsPerSecond * RATIO_MIN * 0.5);
  const load = { ...single, requestsPerSecond: pacedPerSecond };
  const paced = await atRate(target, load).catch((error: unknown) => {
    if (error instanceof RateNotOffered) return error;
    throw error;
  });
  const bareBulk = await saturateWarm(bare, { ...BULK, seconds });
  const ourBulk = await saturateWarm(target, bulk);
  return { bareSingle, single: ourSingle, paced, pacedPerSecond, bareBulk, bulk: ourBulk };
}

const isOutcome = (paced: Turn['paced']): paced is Outcome => !(paced instanceof RateNotOffered);

function pacedFinding(turns: readonly Turn[]): Finding {
  const rate = grouped(medianOf(turns.map(({ pacedPerSecond }) => pacedPerSecond)));
  const name = { id: 'P1', what: `singles, p99 at ${rate}/s` };
  const p99s = turns.map(({ paced }) => paced).filter(isOutcome);
  const p99 = medianOf(p99s.map((outcome) => millisecondsAt(outcome, 99)));
  if (p99s.length > 0) return atMost({ ...name, unit: 'ms' }, p99, P99_MS_MAX);
  const value = 'no figure: the rate was not offered';
  return { ...name, value, target: `≤ ${P99_MS_MAX} ms`, isReached: false };
}

/** Medians of the rounds; ratios are of figures of one round. */
function findingsOf(turns: readonly Turn[]): readonly Finding[] {
  const median = (figure: (turn: Turn) => number): number => medianOf(turns.map(figure));
  const ofBare = median(
    ({ single, bareSingle }) => single.requestsPerSecond / bareSingle.requestsPerSecond,
  );
  const ofSingle = median(({ single, bulk }) => bulk.eventsPerSecond / single.eventsPerSecond);
  const bulk = median((turn) => turn.bulk.eventsPerSecond);
  return [
    atLeast({ id: 'P1', what: 'singles, of bare node:http' }, ofBare, RATIO_MIN),
    pacedFinding(turns),
    atLeast({ id: 'P2', what: 'bulk, of singles in events' }, ofSingle, 6),
    atLeast({ id: 'P2', what: 'bulk, events/s' }, bulk, 150_000),
  ];
}

function notesOf(turns: readonly Turn[], accepted: number): readonly string[] {
  const spread = (figure: (turn: Turn) => number): string => spreadText(turns.map(figure));
  const notOffered = turns.flatMap(({ paced }) => (isOutcome(paced) ? [] : [paced.message]));
  return [
    `Median (least..greatest) of ${turns.length} rounds. Bare node:http: ${spread(({ bareSingle }) => bareSingle.requestsPerSecond)} singles/s, ${spread(({ bareBulk }) => bareBulk.eventsPerSecond)} events/s in bulk; ours: ${spread(({ single }) => single.requestsPerSecond)} singles/s, ${spread(({ bulk }) => bulk.eventsPerSecond)} events/s in bulk.`,
    `Client, ingest and the log share the cores. Count check: ${grouped(accepted)} answered 202, as many counted by the server.`,
    ...notOffered,
  ];
}

/** P1, P2 and the memory of ingest (P9): ingest alone. */
export const measureIngestRate: Measurement = async (options, progress) => {
  const { seconds, log, rounds } = options;
  const bench = await Bench.open();
  const yardstick = await startYardstick();
  try {
    const ingest = await bench.start('ingest', log);
    const memory = await MemorySampler.start(new Map([['ingest', ingest.pid]]));
    let accepted = 0;
    const run = {
      bare: yardstick.target,
      target: bench.targetOf(ingest),
      seconds,
      onAccepted: (_: number, events: number) => {
        accepted += events;
      },
    };
    const turns: Turn[] = [];
    for (let round = 0; round < rounds; round += 1) {
      progress(round / rounds, `round ${round + 1} of ${rounds}`);
      turns.push(await measureTurn(run));
    }
    const counted = await acceptedByServer(ingest.url);
    if (accepted !== counted) throw new Error(`answered 202 ${accepted}, counted ${counted}`);
    const resident = await memory.stop();
    return {
      title: 'Ingest alone',
      findings: [...findingsOf(turns), memory.findingOf('ingest', INGEST_MEGABYTES_MAX)],
      plots: [
        latencyPlot(latenciesOf(turns.at(-1))),
        { title: 'Memory', xLabel: 'seconds', yLabel: 'MB', series: resident },
      ],
      notes: notesOf(turns, accepted),
    };
  } finally {
    yardstick.process.stdin?.end();
    await bench.close();
  }
};
