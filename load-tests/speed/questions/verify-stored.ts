import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { InvoiceListDto } from '../../../billing-api/billing/answer/invoice-dto.js';
import {
  verifyBundle,
  type InvoiceBundleDto,
} from '../../../billing-api/billing/verify/invoice-bundle.js';
import type { VerificationDto } from '../../../billing-api/billing/verify/verification-dto.js';
import { ApiClient } from '../../../cli/demo/api-client.js';
import { waitUntilBilled } from '../../../cli/demo/billing.js';
import { DAY_MS } from '../../../contract/instant.js';
import { projectRoot } from '../../../runtime/project.js';
import { createSeededRandom } from '../../harness/seeded-random.js';
import {
  forEachAtOnce,
  makePlan,
  randomEvent,
  sendCounted,
  subscribeAll,
} from '../billed-customers.js';
import { startProduct } from '../start-product.js';
import { writeResults } from './write-results.js';

/**
 * Whether stored invoices stay what they were computed from, while late and new events arrive: all
 * of them verified from their inputs, byte for byte and without a database, and some measured again
 * from raw events. `npm run measure -- verify-stored [SUBSCRIPTIONS PERIODS EVENTS_PER_SECOND]`;
 * 2500 4 5000 are the 10,000 invoices of the requirement.
 */
const [subscriptions = 500, periods = 4, eventsPerSecond = 5_000] = process.argv
  .slice(2)
  .map(Number);
const FROM_EVENTS = 500;
const EVENTS_OF_PERIOD = 5;
const BATCHES_PER_SECOND = 10;
const PAGE = 500;
const START_MS = Date.UTC(2025, 0, 1);
const random = createSeededRandom(1);

const instantOf = (ms: number): string => new Date(ms).toISOString();

/** Of some customer, in a billed month or of now. */
function eventAt(isLate: boolean) {
  const atMs = isLate ? START_MS + random.below(periods * 28) * DAY_MS : Date.now();
  return randomEvent(random, subscriptions, atMs);
}

async function listInvoices(api: ApiClient): Promise<readonly string[]> {
  const ids: string[] = [];
  for (;;) {
    const { items } = await api.post<InvoiceListDto>('/invoices/search', {
      ...{ invoice_status: ['FINALIZED'], skip_line_items: true, limit: PAGE, offset: ids.length },
      sort: [{ field: 'created_at', direction: 'asc' }],
    });
    ids.push(...items.flatMap(({ id }) => id ?? []));
    if (items.length < PAGE) return ids;
  }
}

/** Half of them late, half of now, as evenly as answers allow; how many were accepted. */
async function sendMeanwhile(api: ApiClient, signal: AbortSignal): Promise<number> {
  const size = Math.max(1, Math.round(eventsPerSecond / BATCHES_PER_SECOND));
  const startedAt = performance.now();
  let sent = 0;
  while (!signal.aborted) {
    const events = Array.from({ length: size }, (_, place) => eventAt(place % 2 === 0));
    await api.post('/events/bulk', { events });
    sent += size;
    const aheadMs = (sent / eventsPerSecond) * 1_000 - (performance.now() - startedAt);
    if (aheadMs > 0) await delay(aheadMs);
  }
  return sent;
}

type Verified = { readonly count: number; readonly different: string[]; readonly seconds: number };

async function timed(
  ids: readonly string[],
  isSame: (id: string) => Promise<boolean>,
): Promise<Verified> {
  const different: string[] = [];
  const startedAt = performance.now();
  await forEachAtOnce(ids, async (id) => {
    if (!(await isSame(id))) different.push(id);
  });
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  return { count: ids.length, different, seconds };
}

async function verifyAll(api: ApiClient, ids: readonly string[]) {
  const stop = new AbortController();
  const startedAt = performance.now();
  const sending = sendMeanwhile(api, stop.signal);
  // A failure is told by whoever waits for it below.
  sending.catch(() => undefined);
  try {
    const fromInputs = await timed(ids, async (id) => {
      const bundle = await api.get<InvoiceBundleDto>(`/invoices/${id}/bundle`);
      return verifyBundle(bundle).length === 0;
    });
    const step = Math.max(1, Math.floor(ids.length / FROM_EVENTS));
    const chosen = ids.filter((_, place) => place % step === 0).slice(0, FROM_EVENTS);
    const fromEvents = await timed(chosen, async (id) => {
      const found = await api.get<VerificationDto>(`/invoices/${id}/verify`);
      return found.same_from_inputs && found.same_from_events === true;
    });
    stop.abort();
    const seconds = (performance.now() - startedAt) / 1_000;
    const eventsAccepted = await sending;
    const rate = Math.round(eventsAccepted / seconds);
    return { fromInputs, fromEvents, eventsAccepted, eventsPerSecond: rate };
  } finally {
    stop.abort();
  }
}

const directory = await mkdtemp(join(tmpdir(), 'minutebook-speed-'));
const product = await startProduct(projectRoot, directory);
const say = (text: string): void => console.log(text);
try {
  const api = new ApiClient(`${product.url}/v1`, product.target.apiKey);
  const planId = await makePlan(api);
  // Usage is there before the first subscription, so that the billing run finds it.
  const count = subscriptions * periods;
  const events = Array.from({ length: count * EVENTS_OF_PERIOD }, () => eventAt(true));
  await sendCounted(api, events);
  say('events are counted');
  const end = instantOf(Date.UTC(2025, periods, 1));
  await subscribeAll(api, subscriptions, {
    ...{ plan_id: planId, billing_cycle: 'calendar' },
    ...{ start_date: instantOf(START_MS), end_date: end },
  });
  await waitUntilBilled(api, count, () => undefined);
  const ids = await listInvoices(api);
  say(`${ids.length} invoices are final`);
  const verified = await verifyAll(api, ids);
  const results = { load: loadavg()[0], invoices: ids.length, ...verified };
  say(JSON.stringify(results, null, 2));
  await writeResults('verify-stored', results);
  const { fromInputs, fromEvents } = verified;
  if (fromInputs.different.length + fromEvents.different.length > 0) process.exitCode = 1;
} finally {
  await product.stop();
  await rm(directory, { recursive: true, force: true });
}
