import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SingleBar } from 'cli-progress';
import pc from 'picocolors';
import { projectRoot } from '../../runtime/project.js';
import { startStack, type Stack } from '../stack.js';
import { readStackConfig } from '../stack-config.js';
import { eventsOfLog, readLogFile } from './access-log.js';
import { ApiClient } from './api-client.js';
import { createCatalog } from './catalog.js';
import { createCustomers, disagreements } from './customers.js';
import { createHourlyCatalog, printHours } from './hours.js';
import { printInvoices } from './invoices.js';
import { printReconciliation, waitUntilCounted } from './reconciliation.js';
import { recountWithAwk } from './recount.js';
import { sendEvents, withDuplicates } from './send-log.js';

const DEMO_LOG = join(projectRoot, 'cli', 'demo', 'data', 'apache-access.log.gz');
const INVOICES_SHOWN = 5;

function progressBar(label: string, total: number): SingleBar {
  const format = `${label.padEnd(20)} {bar} {value}/{total}`;
  const bar = new SingleBar({ format, barsize: 30, hideCursor: true, noTTYOutput: true });
  bar.start(total, 0);
  return bar;
}

async function withBar<T>(
  label: string,
  total: number,
  work: (onProgress: (done: number) => void) => Promise<T>,
): Promise<T> {
  const bar = progressBar(label, total);
  try {
    return await work((done) => bar.update(done));
  } finally {
    bar.stop();
  }
}

/** Runs the demo on a running product. Resolves to whether all numbers agree. */
export async function runDemo(stack: Stack, file: string): Promise<boolean> {
  const text = await readLogFile(file);
  const events = eventsOfLog(text);
  const recount = await recountWithAwk(text);
  const api = new ApiClient(`${stack.url}/v1`, stack.apiKey);
  const catalog = await createCatalog(api);
  const hourly = await createHourlyCatalog(api);
  const customers = [...recount.keys()];
  await withBar('Creating customers', customers.length, (onProgress) =>
    createCustomers(api, customers, onProgress),
  );
  const sending = withDuplicates(events);
  const { sent, accepted } = await withBar('Sending events', sending.length, (onProgress) =>
    sendEvents(api, sending, onProgress),
  );
  const totals = await withBar('Counting', accepted, (onProgress) =>
    waitUntilCounted(stack.clickhouseUrl, accepted, onProgress),
  );
  const wrong = await withBar('Comparing with awk', customers.length, (onProgress) =>
    disagreements(api, catalog, { recount, onProgress }),
  );
  const largest = customers.toSorted(
    (left, right) => (recount.get(right)?.all ?? 0) - (recount.get(left)?.all ?? 0),
  );
  await printInvoices(api, catalog, {
    customers: largest.slice(0, INVOICES_SHOWN),
    firstEventAt: events[0]?.timestamp ?? new Date().toISOString(),
  });
  const [customer = ''] = largest;
  const wrongHours = await printHours(api, hourly, { customer, events });
  const isBalanced = printReconciliation(sent, accepted, totals);
  for (const line of [...wrong.slice(0, 10), ...wrongHours]) console.log(pc.red(line));
  const agreeing = customers.length - wrong.length;
  console.log(
    `\nFor ${agreeing} of ${customers.length} customers, all requests and pages delivered agree with ` +
      'the independent count of the file.',
  );
  return isBalanced && wrong.length === 0 && wrongHours.length === 0;
}

/** `minutebook demo`: runs in a temporary directory, which is removed afterwards. */
export async function runDemoVerb(file: string | undefined): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-demo-'));
  const stack = await startStack(
    readStackConfig({
      MINUTEBOOK_LOG_LEVEL: 'warn',
      MINUTEBOOK_PORT: '0',
      // The demo asks for thousands of figures at once, for which the limits are not meant.
      MINUTEBOOK_HEAVY_RATE: '100000',
      MINUTEBOOK_DEFAULT_RATE: '100000',
      ...process.env,
      MINUTEBOOK_DATA_DIR: directory,
    }),
    () => rm(directory, { recursive: true, force: true }),
  );
  stack.lifecycle.closeOnSignals();
  let isRight = false;
  try {
    isRight = await runDemo(stack, file ?? DEMO_LOG);
  } finally {
    await stack.lifecycle.close();
  }
  console.log(isRight ? pc.green('Every number agrees.') : pc.red('Some numbers do not agree.'));
  process.exit(isRight ? 0 : 1);
}
