import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { tableLines } from '../../cli/demo/tables.js';
import { measureBacklog } from './backlog-rate.js';
import { measureColdStart } from './cold-start.js';
import { measureCustomerMonth } from './customer-month.js';
import { measureIngestRate } from './ingest-rate.js';
import { machineFacts } from '../harness/machine-facts.js';
import { measurePreview } from './preview.js';
import { measurePurePricing } from './pure-pricing.js';
import { writeReport } from './report/write-report.js';
import type { Finding, Measurement, Section, SpeedOptions } from './section.js';
import { measureVisibility } from './visibility.js';

/**
 * The performance targets that have a script here, each measured beside a yardstick of the same
 * run: `npm run speed -- [--only ingest,backlog,visibility,month,pricing,preview,start]
 * [--events N] [--minute-rows N] [--seconds N]`.
 * Writes load-tests/results/speed.html and prints the table last. A run whose counts are wrong ends
 * with an error and has no figures.
 */
const MEASUREMENTS: ReadonlyMap<string, Measurement> = new Map([
  ['ingest', measureIngestRate],
  ['backlog', measureBacklog],
  ['visibility', measureVisibility],
  ['month', measureCustomerMonth],
  ['pricing', measurePurePricing],
  ['preview', measurePreview],
  ['start', measureColdStart],
]);

async function measure(
  name: string,
  measurement: Measurement,
  options: SpeedOptions,
): Promise<Section> {
  const bar = new SingleBar({
    format: `${name.padEnd(10)} {bar} {percentage}% {text}`,
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

function verdictOf({ isReached }: Finding): string {
  if (isReached === null) return '';
  return isReached ? 'reached' : 'missed';
}

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: [...MEASUREMENTS.keys()].join(',') },
    events: { type: 'string', default: '1000000' },
    'minute-rows': { type: 'string', default: '10000000' },
    seconds: { type: 'string', default: '8' },
    name: { type: 'string', default: 'speed' },
  },
});
const options = {
  events: Number(values.events),
  minuteRows: Number(values['minute-rows']),
  seconds: Number(values.seconds),
};
const sections: Section[] = [];
for (const name of values.only.split(',')) {
  const measurement = MEASUREMENTS.get(name);
  if (measurement === undefined) {
    throw new Error(`--only takes ${[...MEASUREMENTS.keys()].join(', ')}; ${name} is none of them`);
  }
  sections.push(await measure(name, measurement, options));
}
const facts = machineFacts();
const madeAt = new Date().toISOString();
const page = await writeReport({ name: values.name, madeAt, facts, sections });
for (const section of sections) for (const note of section.notes) console.log(note);
const rows = sections
  .flatMap((section) => section.findings)
  .map((found) => [`${found.id}: ${found.what}`, found.value, found.target, verdictOf(found)]);
for (const text of tableLines(['figure', 'value', 'target', ''], rows)) console.log(text);
console.log(`report: ${page}`);
