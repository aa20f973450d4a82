import { atRate, saturateWarm, type Target } from './load/drive.js';
import type { Outcome } from './load/load-tally.js';
import { startYardstick } from './load/start-yardstick.js';
import { MemorySampler } from './memory-sampler.js';
import { Bench } from './programs.js';
import {
  atLeast,
  atMost,
  grouped,
  type Finding,
  type Measurement,
  type Plot,
  type Progress,
} from './section.js';

const SINGLE = { path: '/v1/events', eventsPerRequest: 1, connections: 256 } as const;
const BULK = { path: '/v1/events/bulk', eventsPerRequest: 500, connections: 16 } as const;
const INGEST_MEGABYTES_MAX = 250;
const PERCENTILES = [50, 75, 90, 95, 99, 99.5, 99.9, 100];

/** Accepted events as the server counts them. */
async function acceptedByServer(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^minutebook_events_accepted_total (\S+)$/m.exec(text)?.[1] ?? Number.NaN);
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

type Rates = {
  readonly bareSingle: Outcome;
  readonly single: Outcome;
  readonly paced: Outcome;
  readonly pacedRequestsPerSecond: number;
  readonly bareBulk: Outcome;
  readonly bulk: Outcome;
  readonly accepted: number;
};

async function measureRates(
  bare: Target,
  target: Target,
  run: { readonly seconds: number; readonly progress: Progress },
): Promise<Rates> {
  const { seconds, progress } = run;
  progress(0.05, 'bare node:http, singles');
  const bareSingle = await saturateWarm(bare, { ...SINGLE, seconds });
  progress(0.25, 'singles');
  const single = await saturateWarm(target, { ...SINGLE, seconds });
  const requestsPerSecond = Math.floor(bareSingle.outcome.requestsPerSecond * 0.6 * 0.5);
  progress(0.45, `singles at ${requestsPerSecond} a second`);
  const paced = await atRate(target, { ...SINGLE, seconds, requestsPerSecond });
  progress(0.6, 'bare node:http, bulk');
  const bareBulk = await saturateWarm(bare, { ...BULK, seconds });
  progress(0.8, 'bulk');
  const bulk = await saturateWarm(target, { ...BULK, seconds });
  return {
    bareSingle: bareSingle.outcome,
    single: single.outcome,
    paced,
    pacedRequestsPerSecond: requestsPerSecond,
    bareBulk: bareBulk.outcome,
    bulk: bulk.outcome,
    accepted: single.accepted + paced.acceptedEvents + bulk.accepted,
  };
}

function findingsOf(rates: Rates): readonly Finding[] {
  const { bareSingle, single, paced, bulk } = rates;
  const ofBare = single.requestsPerSecond / bareSingle.requestsPerSecond;
  const ofSingle = bulk.eventsPerSecond / single.eventsPerSecond;
  const p99 = `singles, p99 at ${grouped(rates.pacedRequestsPerSecond)}/s`;
  return [
    atLeast({ id: 'P1', what: 'singles, of bare node:http' }, ofBare, 0.6),
    atMost({ id: 'P1', what: p99, unit: 'ms' }, millisecondsAt(paced, 99), 25),
    atLeast({ id: 'P2', what: 'bulk, of singles in events' }, ofSingle, 6),
    atLeast({ id: 'P2', what: 'bulk, events/s' }, bulk.eventsPerSecond, 150_000),
  ];
}

function notesOf({ bareSingle, bareBulk, single, accepted }: Rates): readonly string[] {
  const bare = `${grouped(bareSingle.requestsPerSecond)} singles/s, ${grouped(bareBulk.eventsPerSecond)} events/s in bulk`;
  return [
    `Bare node:http: ${bare}; ours: ${grouped(single.requestsPerSecond)} singles/s.`,
    `Client, ingest and the log share the cores. Count check: ${grouped(accepted)} answered 202, as many counted by the server.`,
  ];
}

/** P1, P2 and the memory of ingest (P9): ingest alone. */
export const measureIngestRate: Measurement = async ({ seconds, log }, progress) => {
  const bench = await Bench.open();
  const yardstick = await startYardstick();
  try {
    const ingest = await bench.start('ingest', log);
    const memory = new MemorySampler(new Map([['ingest', ingest.pid]]));
    const run = { seconds, progress };
    const rates = await measureRates(yardstick.target, bench.targetOf(ingest), run);
    const counted = await acceptedByServer(ingest.url);
    if (rates.accepted !== counted) {
      throw new Error(`answered 202 ${rates.accepted}, counted ${counted}`);
    }
    const resident = memory.stop();
    const latencies = {
      'singles, saturated': rates.single,
      'singles, paced': rates.paced,
      bulk: rates.bulk,
    };
    return {
      title: 'Ingest alone',
      findings: [...findingsOf(rates), memory.findingOf('ingest', INGEST_MEGABYTES_MAX)],
      plots: [
        latencyPlot(latencies),
        { title: 'Memory', xLabel: 'seconds', yLabel: 'MB', series: resident },
      ],
      notes: notesOf(rates),
    };
  } finally {
    yardstick.process.stdin?.end();
    await bench.close();
  }
};
