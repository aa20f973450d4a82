import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../../../runtime/project.js';
import { openEmbeddedStore } from '../embedded-store.js';
import { readEngineLogs } from '../mixed/engine-logs.js';
import { LogLines } from '../mixed/log-lines.js';
import { mixSection } from '../mixed/mix-report.js';
import { runMix, type MixPlan } from '../mixed/run-mix.js';
import { onLog } from '../on-log.js';
import { inProduct, type Product } from '../programs.js';
import { reportSection } from '../report/report-section.js';
import type { Section } from '../section.js';

/**
 * A long mixed load on the whole product, as `npm start` runs it: singles and bulk at a fixed rate,
 * repeats, late events, meters that are made, changed and archived, and questions about usage. At
 * the end all books are compared, and memory, parts and log lines are judged.
 * `npm run measure -- mixed-load [--minutes 60] [--log postgres|kafka] [--rate EVENTS_A_SECOND]
 * [--singles 0.2] [--meter-seconds 5]`. Without --rate it runs the load as fast as the machine can
 * for half a minute and takes half of that. Ends with status 1 when anything is not as it must be.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    log: { type: 'string', default: 'postgres' },
    rate: { type: 'string' },
    singles: { type: 'string', default: '0.2' },
    'meter-seconds': { type: 'string', default: '5' },
  },
});
const plan: MixPlan = {
  minutes: Number(values.minutes),
  eventsPerSecond: values.rate === undefined ? null : Number(values.rate),
  singlesShare: Number(values.singles),
  meterSeconds: Number(values['meter-seconds']),
  onProgress: (fraction, text) => {
    console.error(`${(100 * fraction).toFixed(0).padStart(3)} %  ${text}`);
  },
};

async function measure(settings: Readonly<Record<string, string>>): Promise<Section> {
  const results = join(projectRoot, 'load-tests', 'results');
  await mkdir(results, { recursive: true });
  const logFile = join(results, `mixed-load-${values.log}.log`);
  await rm(logFile, { force: true });
  const logs = new LogLines(logFile);
  const work = async (product: Product, directory: string): Promise<Section> => {
    const clickhouse = await openEmbeddedStore(directory);
    const result = await runMix(product, clickhouse, plan).finally(() => clickhouse.close());
    const engineLines = await readEngineLogs(directory);
    return mixSection(result, { plan, logs, engineLines, log: values.log });
  };
  return inProduct(settings, work, (stream) => logs.read(stream));
}

const section = await onLog(values.log, measure);
await reportSection(`mixed-load-${values.log}`, section);
