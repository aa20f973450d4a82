import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { saturateWarm } from '../load/drive.js';
import { startYardstick } from '../load/start-yardstick.js';
import { withKafka } from '../on-log.js';
import { grouped, type Measurement, type Progress, type SpeedOptions } from '../section.js';
import { LOGS, type BareTurn, type LogName, type ProductTurn, type Round } from './figures.js';
import { BULK, measureProduct, SINGLE, type Sizes } from './product-turn.js';
import { findingsOf, legendOf, tableOf } from './summary.js';

const SIZES = { bulkEvents: 100_000, singleEvents: 50_000, storedEvents: 1_000_000, calls: 300 };

async function measureBare(seconds: number): Promise<BareTurn> {
  const yardstick = await startYardstick();
  try {
    const singles = await saturateWarm(yardstick.target, { ...SINGLE, seconds });
    const bulk = await saturateWarm(yardstick.target, { ...BULK, seconds });
    return {
      singles: singles.eventsPerSecond,
      singlesP99: singles.latencyMicros.getValueAtPercentile(99) / 1000,
      bulk: bulk.eventsPerSecond,
    };
  } finally {
    yardstick.process.stdin?.end();
  }
}

/** The product on this log; a reason where no broker can be had. */
async function measureLog(
  log: LogName,
  sizes: Sizes,
  folder: string,
): Promise<ProductTurn | string> {
  if (log === 'PostgreSQL') return measureProduct({}, sizes, folder);
  return withKafka<ProductTurn | string>(
    (settings) => measureProduct(settings, sizes, folder),
    (skipReason) => skipReason,
  );
}

type Measured = { readonly rounds: Round[]; readonly notes: string[] };

async function measureRounds(
  options: SpeedOptions,
  progress: Progress,
  folder: string,
): Promise<Measured> {
  const measured: Measured = { rounds: [], notes: [] };
  const sizes = { ...SIZES, seconds: options.seconds, storedEvents: options.storedEvents };
  const steps = options.rounds * (1 + LOGS.length);
  let step = 0;
  const say = (text: string): void => {
    progress(step / steps, text);
    step += 1;
  };
  for (let number = 1; number <= options.rounds; number += 1) {
    const products = new Map<LogName, ProductTurn>();
    say(`round ${number}: bare node:http`);
    const bare = await measureBare(options.seconds);
    // Who comes first changes with the round, so that no log always has the warmer machine.
    for (const log of number % 2 === 1 ? LOGS : LOGS.toReversed()) {
      say(`round ${number}: log in ${log}`);
      const turn = await measureLog(log, sizes, folder);
      if (typeof turn === 'string') measured.notes.push(`log in ${log}: not measured, ${turn}`);
      else {
        products.set(log, turn);
        measured.notes.push(...turn.notes.map((text) => `round ${number}, ${log}: ${text}`));
      }
    }
    measured.rounds.push({ bare, products });
  }
  return measured;
}

/**
 * The table "To beat" of docs/measurements/README.md: bare node:http and the whole product on both
 * logs in turns, several rounds. Each turn of the product starts fresh, with engines of its own.
 */
export const measureToBeat: Measurement = async (options, progress) => {
  const folder = await mkdtemp(join(tmpdir(), 'minutebook-speed-'));
  const { rounds, notes } = await measureRounds(options, progress, folder).finally(() =>
    rm(folder, { recursive: true, force: true }),
  );
  const logs = LOGS.filter((log) => rounds.some(({ products }) => products.has(log)));
  const accepted = rounds.flatMap(({ products }) => [...products.values()]);
  const events = accepted.reduce((sum, turn) => sum + turn.accepted, 0);
  return {
    title: 'To beat, on both logs',
    findings: findingsOf(rounds, logs),
    table: tableOf(rounds, logs),
    plots: [],
    notes: [
      legendOf(rounds),
      `${rounds.length} rounds; client, product, engines and broker share the cores; a month among ${grouped(options.storedEvents)} events. CPU and memory are those of the product, its engines and a broker that this run started. Count check: ${grouped(events)} answered 202, as many visible.`,
      ...notes,
    ],
  };
};
