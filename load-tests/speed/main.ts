import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { tableLines } from '../../cli/look/tables.js';
import { measureBacklog } from './backlog-rate.js';
import { measureBillingRun } from './billing-run.js';
import { measureColdStart } from './cold-start.js';
import { measureConsoleLists } from './console-lists.js';
import { measureCustomerMonth } from './customer-month.js';
import { measureIngestRate } from './ingest-rate.js';
import { machineFacts } from '../harness/machine-facts.js';
import { onKafka } from './on-kafka.js';
import { measurePreview } from './preview.js';
import { measurePurePricing } from './pure-pricing.js';
import { writeReport } from './report/write-report.js';
import {
  grouped,
  figureRow,
  type Measurement,
  type Section,
  type SpeedOptions,
} from './section.js';
import { measureVisibility } from './visibility.js';

/**
 * The performance targets that have a script here, each measured beside a yardstick of the same
 * run: `npm run speed -- [--only ingest,ingest-kafka] [--name NAME] [--rounds N]
 * [--seconds N] [--events N] [--subscriptions N] [--minute-rows N] [--full]`. Without `--full`, P3
 * and P5 run on a part of the sizes that are asked; the table and the report say on how many. What
 * depends on the log is measured with both logs.
 * Writes load-tests/results/speed.html and prints the table last. A run whose counts are wrong ends
 * with an error and has no figures.
 */
const MEASUREMENTS: ReadonlyMap<string, Measurement> = new Map([
  ['ingest', measureIngestRate],
  ['ingest-kafka', onKafka(measureIngestRate)],
  ['backlog', measureBacklog],
  ['backlog-kafka', onKafka(measureBacklog)],
  ['visibility', measureVisibility],
  ['visibility-kafka', onKafka(measureVisibility)],
  ['month', measureCustomerMonth],
  ['pricing', measurePurePricing],
  ['preview', measurePreview],
  ['billing', measureBillingRun],
  ['console', measureConsoleLists],
  ['start', measureColdStart],
]);

async function measure(
  name: string,
  measurement: Measurement,
  options: SpeedOptions,
): Promise<Section> {
  const bar = new SingleBar({
    format: `${name.padEnd(16)} {bar} {percentage}% {text}`,
    noTTYOutput: false,
    hideCursor: true,
  });
  bar.start(1, 0, { text: 'starting' });
  try {
    return await measurement(options, (fraction, text) => bar.update(fraction, { text }));
  } finally {
    bar.update(1, { text: 'done' });
    bar.stop();
  }
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: [...MEASUREMENTS.keys()].join(',') },
    events: { type: 'string' },
    'minute-rows': { type: 'string' },
    full: { type: 'boolean', default: false },
    subscriptions: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    name: { type: 'string', default: 'speed' },
  },
});
/** Sizes of P3 and P5 as the targets ask for them, and a part that a machine does in minutes. */
const SIZES = {
  full: { events: 5_000_000, minuteRows: 100_000_000 },
  part: { events: 1_000_000, minuteRows: 10_000_000 },
};
const size = values.full ? SIZES.full : SIZES.part;
const options = {
  events: Number(values.events ?? size.events),
  minuteRows: Number(values['minute-rows'] ?? size.minuteRows),
  subscriptions: Number(values.subscriptions),
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
  log: {},
};
const sections: Section[] = [];
for (const name of values.only.split(',')) {
  const measurement = MEASUREMENTS.get(name);
  if (measurement === undefined) {
    throw new Error(`--only takes ${[...MEASUREMENTS.keys()].join(', ')}; ${name} is none of them`);
  }
  sections.push(await measure(name, measurement, options));
}
const sizes = `${grouped(options.events)} events (asked: ${grouped(SIZES.full.events)}), ${grouped(options.minuteRows)} minute rows (asked: ${grouped(SIZES.full.minuteRows)})`;
const facts = [...machineFacts(), ['sizes of P3 and P5', sizes] as const];
const madeAt = new Date().toISOString();
const page = await writeReport({ name: values.name, madeAt, facts, sections });
console.log(`sizes of P3 and P5: ${sizes}`);
for (const section of sections) for (const note of section.notes) console.log(note);
const rows = sections.flatMap((section) => section.findings).map((found) => figureRow(found));
for (const text of tableLines(['figure', 'value', 'target', ''], rows)) console.log(text);
console.log(`report: ${page}`);
