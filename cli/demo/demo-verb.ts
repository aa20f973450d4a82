import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SingleBar } from 'cli-progress';
import pc from 'picocolors';
import { projectRoot } from '../../runtime/project.js';
import { startStack, type Stack } from '../stack/stack.js';
import { readStackConfig } from '../stack/stack-config.js';
import { eventsOfLog, readLogFile } from './access-log.js';
import { ApiClient } from '../look/api-client.js';
import {
  customerOf,
  readFinalized,
  subscribeCustomers,
  waitUntilBilled,
  wrongInvoices,
} from './billing.js';
import { createCatalog, type DemoCatalog } from './catalog.js';
import { createCustomers, disagreements, waitUntilIncluded } from './customers.js';
import { createHourlyCatalog, printHours } from './hours.js';
import { printInvoices } from './invoices.js';
import { printReconciliation, waitUntilCounted } from './reconciliation.js';
import { recountWithAwk, type Recount } from './recount.js';
import { sendEvents, withDuplicates } from './send-log.js';
import { runYear } from './year.js';

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

type Billed = {
  readonly recount: ReadonlyMap<string, Recount>;
  readonly firstEventAt: string;
  /** All customers, those with most requests first. */
  readonly largest: readonly string[];
};

/** Lets the billing run invoice the month of all customers. Returns what is wrong with it. */
async function billMonth(
  api: ApiClient,
  catalog: DemoCatalog,
  { recount, firstEventAt, largest }: Billed,
): Promise<readonly string[]> {
  const count = largest.length;
  await withBar('Subscribing', count, (onProgress) =>
    subscribeCustomers(api, catalog, { customers: largest, firstEventAt, onProgress }),
  );
  await withBar('Billing', count, (onProgress) => waitUntilBilled(api, count, onProgress));
  const invoices = await readFinalized(api);
  const byCustomer = new Map(invoices.map((one) => [customerOf(one), one]));
  const shown = largest.slice(0, INVOICES_SHOWN).flatMap((customer) => {
    const id = byCustomer.get(customer)?.id ?? null;
    return id === null ? [] : [{ customer, id }];
  });
  const areSame = await printInvoices(api, catalog, shown);
  const wrong = wrongInvoices(invoices, recount);
  const names = [invoices[0], invoices.at(-1)].map((one) => one?.invoice_number ?? 'none');
  console.log(
    `\n${invoices.length} invoices are final, ${names.join(' to ')}. ` +
      `${count - wrong.length} have the quantities and amounts of the independent count.`,
  );
  return areSame ? wrong : [...wrong, 'an invoice does not compute to itself again'];
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
  const sentAtMs = Date.now();
  const totals = await withBar('Counting', accepted, (onProgress) =>
    waitUntilCounted(stack.clickhouseUrl, accepted, onProgress),
  );
  const [someone = ''] = customers;
  await waitUntilIncluded(api, catalog, { customer: someone, instantMs: sentAtMs });
  const wrong = await withBar('Comparing with awk', customers.length, (onProgress) =>
    disagreements(api, catalog, { recount, onProgress }),
  );
  const largest = customers.toSorted(
    (left, right) => (recount.get(right)?.all ?? 0) - (recount.get(left)?.all ?? 0),
  );
  const firstEventAt = events[0]?.timestamp ?? new Date().toISOString();
  const wrongInvoiced = await billMonth(api, catalog, { recount, firstEventAt, largest });
  const [customer = ''] = largest;
  const wrongHours = await printHours(api, hourly, { customer, events });
  const isBalanced = printReconciliation(sent, accepted, totals);
  for (const line of [...wrong.slice(0, 10), ...wrongInvoiced.slice(0, 10), ...wrongHours])
    console.log(pc.red(line));
  const agreeing = customers.length - wrong.length;
  console.log(
    `\nFor ${agreeing} of ${customers.length} customers, all requests and pages delivered agree with ` +
      'the independent count of the file.',
  );
  return isBalanced && [wrong, wrongInvoiced, wrongHours].every(({ length }) => length === 0);
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
      // The year has a tenant of its own.
      MINUTEBOOK_SIGN_UP: 'open',
      ...process.env,
      MINUTEBOOK_DATA_DIR: directory,
    }),
    () => rm(directory, { recursive: true, force: true }),
  );
  stack.lifecycle.closeOnSignals();
  let isRight = false;
  try {
    const isLogRight = await runDemo(stack, file ?? DEMO_LOG);
    isRight = (await runYear(`${stack.url}/v1`)) && isLogRight;
  } finally {
    await stack.lifecycle.close();
  }
  console.log(isRight ? pc.green('Every number agrees.') : pc.red('Some numbers do not agree.'));
  process.exit(isRight ? 0 : 1);
}
