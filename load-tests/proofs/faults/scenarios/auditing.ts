import { setTimeout as delay } from 'node:timers/promises';
import { UnexpectedAnswer } from '../../../../cli/look/api-client.js';
import { messageOf } from '../../../../runtime/failure.js';
import { settle } from '../checks/settle.js';
import { malformedOfEachKind, writeMalformed } from '../load/write-malformed.js';
import {
  makeBilledCustomer,
  previewInvoice,
  priceByOracle,
  textOfInvoice,
  type BilledCustomer,
} from '../world/billed-customer.js';
import type { World } from '../world/world.js';
import { REQUESTS } from './requests.js';
import {
  asBulks,
  asSingles,
  eventsOf,
  inWorld,
  send,
  until,
  type EventShape,
  type Notes,
  type Scenario,
} from './scenario.js';

const CUSTOMER = 'acme';
/** Both sides of the ends of the billing period, which is March 2026. */
const EDGES = [
  '2026-02-28T23:59:59.999Z',
  '2026-03-01T00:00:00.000Z',
  '2026-03-31T23:59:59.999Z',
  '2026-04-01T00:00:00.000Z',
] as const;

/** Events of the customer who pays: some at the edges, some of them counted on one line only. */
function billedShape(index: number): EventShape {
  const timestamp = index % 10 === 0 ? EDGES[(index / 10) % EDGES.length] : undefined;
  const method = index % 7 === 0 ? 'POST' : 'GET';
  return {
    external_customer_id: CUSTOMER,
    properties: { method, region: 'eu', amount: `${index}.0253` },
    ...(timestamp === undefined ? {} : { timestamp }),
  };
}

/** While usage cannot be read there is no amount: 503, and never an invoice of 0. */
async function expectNoAmount(
  world: World,
  customer: BilledCustomer,
  { expect }: Notes,
): Promise<void> {
  const answer = await previewInvoice(world, customer, priceByOracle(world, customer)).catch(
    (error: unknown) => error,
  );
  const isRefused = answer instanceof UnexpectedAnswer && answer.status === 503;
  expect(isRefused, `an invoice without ClickHouse: ${messageOf(answer)}`);
}

async function expectInvoice(
  world: World,
  customer: BilledCustomer,
  { expect }: Notes,
): Promise<void> {
  const expected = priceByOracle(world, customer);
  const wanted = textOfInvoice(expected.lines, expected.totals.total);
  const found = await previewInvoice(world, customer, expected);
  expect(found === wanted, `invoice: ${found}; the oracle says ${wanted}`);
}

/** What follows from the counts, after faults: amounts, reconciliation and dead letters. */
export const AUDITING: readonly Scenario[] = [
  {
    name: 'invoice after faults: it equals the oracle, and the reconciliation of each hour balances',
    isCalm: false,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, { meters: [] }, async (world, notes) => {
        const { clickhouse, clickhouseProxy } = world.options.engines;
        await Promise.all([world.startIngest(), world.startBillingApi()]);
        const customer = await makeBilledCustomer(world, CUSTOMER);
        const first = world.startAggregator();
        clickhouseProxy.disturb({ kind: 'lose_reply', match: REQUESTS.insertUsage, times: 1 });
        const sending = send(world, asSingles(eventsOf(300, 0, billedShape), 2_000));
        // Strangers and repeats: the hours have every figure.
        const others = send(world, asBulks([...eventsOf(60, 1_000), ...eventsOf(60, 1_000)]));
        const isLost = await until(() => clickhouseProxy.isSpent, bench.settleTimeoutMs);
        notes.expect(isLost, 'no reply was lost');
        await first.kill();
        await clickhouse.kill();
        world.startAggregator();
        await expectNoAmount(world, customer, notes);
        await clickhouse.start();
        await Promise.all([sending, others]);
        await send(world, asBulks(eventsOf(100, 0, billedShape)));
        await settle(world, bench.settleTimeoutMs);
        await expectInvoice(world, customer, notes);
      }),
  },
  {
    name: 'malformed records in the log during faults: each ends as one dead letter',
    isCalm: false,
    isAboutLog: true,
    run: (bench) =>
      inWorld(bench, { flushDelayMs: 20, batchEventsMax: 30 }, async (world) => {
        const { clickhouse } = world.options.engines;
        const { partitions } = world.options;
        await world.startIngest();
        const first = world.startAggregator();
        const sending = send(world, asSingles(eventsOf(250, 0), 2_000));
        const marks = Array.from({ length: 10 }, (_, mark) => mark);
        const planned = marks.flatMap((mark) =>
          malformedOfEachKind(mark, partitions).map((record) => ({ atMs: mark * 200, record })),
        );
        const writing = writeMalformed(world, planned);
        await delay(500);
        await first.kill();
        await world.forgetDeadMembers();
        world.startAggregator();
        await clickhouse.kill();
        await clickhouse.start();
        await Promise.all([sending, writing]);
      }),
  },
  {
    name: 'two ingest processes, one killed: an id that both accepted counts once',
    isCalm: true,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, { ingests: 2 }, async (world, { expect }) => {
        const [, second] = await Promise.all([world.startIngest(0), world.startIngest(1)]);
        world.startAggregator();
        const events = eventsOf(150, 0);
        // The same ids at both, at the same time: the turns of the second list are the other ones.
        const twice = events.flatMap((event) => [event, event]);
        const sending = send(world, asSingles(twice, 1_500));
        await until(() => world.ledger.acceptedEvents > 100, 5_000);
        await second.kill();
        await delay(300);
        await world.startIngest(1);
        await sending;
        expect(world.ledger.acceptedEvents === 300, 'not every request was accepted');
      }),
  },
];
