import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { onLog } from '../on-log.js';
import { cpuSecondsOf, PARTS, productProcesses, type Part } from '../processes.js';
import { inProduct } from '../programs.js';
import { reportSection } from '../report/report-section.js';
import { atMost, type Section } from '../section.js';

/**
 * What the whole product uses while nothing is asked and no event comes: a fresh installation, as
 * `npm start` runs it, in percent of one core. The broker of Kafka is shown and does not count.
 * `npm run measure -- at-rest [--seconds 60] [--settle 60] [--log postgres|kafka]`. Ends with
 * status 1 when it is more than 3 %.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    settle: { type: 'string', default: '60' },
    log: { type: 'string', default: 'postgres' },
  },
});
const PERCENT_MAX = 3;

type Usage = ReadonlyMap<Part, number>;

/** Percent of one core by part, over so many seconds. */
async function watchRest(seconds: number): Promise<Usage> {
  const processes = await productProcesses(process.pid);
  const before = await cpuSecondsOf(processes);
  const startedAt = performance.now();
  await delay(seconds * 1_000);
  const after = await cpuSecondsOf(processes);
  const tookSeconds = (performance.now() - startedAt) / 1_000;
  const percentOf = (part: Part): number =>
    (100 * ((after.get(part) ?? 0) - (before.get(part) ?? 0))) / tookSeconds;
  return new Map(PARTS.map((part) => [part, percentOf(part)]));
}

function restSection(usage: Usage): Section {
  const ours = [...usage].filter(([part]) => part !== 'kafka');
  const sum = ours.reduce((all, [, percent]) => all + percent, 0);
  const row = (part: string, percent: number) => ({
    id: 'rest',
    what: part,
    value: `${percent.toFixed(2)} %`,
    target: '',
    isReached: null,
  });
  return {
    title: `At rest (${values.log})`,
    findings: [
      ...[...usage]
        .filter(([, percent]) => percent > 0)
        .map(([part, percent]) => row(part, percent)),
      atMost(
        { id: 'rest', what: 'all programs and engines', unit: '% of a core' },
        sum,
        PERCENT_MAX,
      ),
    ],
    plots: [],
    notes: [`Read over ${values.seconds} s, ${values.settle} s after the start.`],
  };
}

const section = await onLog(values.log, (settings) =>
  inProduct(settings, async () => {
    await delay(Number(values.settle) * 1_000);
    return restSection(await watchRest(Number(values.seconds)));
  }),
);
await reportSection(`at-rest-${values.log}`, section);
