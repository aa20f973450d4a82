import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { tableLines } from '../../../cli/demo/tables.js';
import { projectRoot } from '../../../runtime/project.js';
import { obtainKafka } from '../../harness/kafka.js';
import { machineFacts } from '../../harness/machine-facts.js';
import { openEmbeddedStore } from '../embedded-store.js';
import { readEngineLogs } from '../mixed/engine-logs.js';
import { LogLines } from '../mixed/log-lines.js';
import { mixSection } from '../mixed/mix-report.js';
import { runMix, type MixPlan } from '../mixed/run-mix.js';
import { startProduct } from '../programs.js';
import { writeReport } from '../report/write-report.js';
import { verdictOf, type Section } from '../section.js';

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
if (values.log !== 'postgres' && values.log !== 'kafka') {
  throw new Error('--log takes postgres or kafka');
}
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
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-mixed-'));
  const results = join(projectRoot, 'load-tests', 'results');
  await mkdir(results, { recursive: true });
  const logFile = join(results, `mixed-load-${values.log}.log`);
  await rm(logFile, { force: true });
  const logs = new LogLines(logFile);
  const product = await startProduct(directory, settings, (stream) => logs.read(stream));
  try {
    const clickhouse = await openEmbeddedStore(directory);
    const result = await runMix(product, clickhouse, plan).finally(() => clickhouse.close());
    const engineLines = await readEngineLogs(directory);
    return mixSection(result, { plan, logs, engineLines, log: values.log });
  } finally {
    await product.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function measureOnLog(): Promise<Section> {
  if (values.log === 'postgres') return measure({});
  const { kafka, skipReason } = await obtainKafka();
  if (kafka === null) throw new Error(`no Kafka: ${skipReason}`);
  try {
    return await measure({ KAFKA_BROKERS: kafka.brokers });
  } finally {
    await kafka.stop();
  }
}

const section = await measureOnLog();
const name = `mixed-load-${values.log}`;
const madeAt = new Date().toISOString();
const page = await writeReport({ name, madeAt, facts: machineFacts(), sections: [section] });
for (const note of section.notes) console.log(note);
const rows = section.findings.map((found) => [
  `${found.id}: ${found.what}`,
  ...[found.value, found.target, verdictOf(found)],
]);
for (const line of tableLines(['', 'value', 'target', ''], rows)) console.log(line);
console.log(`report: ${page}`);
process.exitCode = section.findings.every(({ isReached }) => isReached !== false) ? 0 : 1;
