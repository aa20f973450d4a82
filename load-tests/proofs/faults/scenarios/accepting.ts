import { setTimeout as delay } from 'node:timers/promises';
import PQueue from 'p-queue';
import { readTotals } from '../checks/read-stores.js';
import type { World } from '../world/world.js';
import { asBulks, asSingles, eventsOf, inWorld, send, until, type Scenario } from './scenario.js';
import { REQUESTS } from './requests.js';

/** Slows every append to the log down, as a busy disk or a slow replica would. */
function slowLog(world: World): void {
  const { log, engines } = world.options;
  if (log === 'kafka') engines.kafka.broker?.freeze();
  else {
    engines.postgresProxy.disturb({ kind: 'slow', match: REQUESTS.append, times: 50, holdMs: 300 });
  }
}

async function quickLog(world: World): Promise<void> {
  const { log, engines } = world.options;
  if (log === 'kafka') engines.kafka.broker?.thaw();
  else await engines.postgresProxy.calm();
}

/** Together more than twice the bytes that an aggregator fetches ahead of its batches. */
const BACKLOG_EVENTS = 3_500;
const FILLER_CHARACTERS = 20_000;
const BACKLOG_REQUEST_EVENTS = 50;
/** A flood of requests of a megabyte would time out, and all of them would be sent again. */
const REQUESTS_AT_A_TIME = 4;
const OUTAGE_MS = 6_000;
const BEGIN_TIMEOUT_MS = 60_000;

const hasBegun = async ({ clickhouse }: World): Promise<boolean> =>
  (await readTotals(clickhouse)).markers > 0;

/** What must be true once a client has been answered. */
export const ACCEPTING: readonly Scenario[] = [
  {
    name: 'kills ingest after the answer: no accepted event is lost',
    isCalm: false,
    isAboutLog: true,
    run: (bench) =>
      inWorld(bench, {}, async (world) => {
        await world.startIngest();
        world.startAggregator();
        await send(world, asSingles(eventsOf(5, 0), 0));
        slowLog(world);
        const sending = send(world, asSingles(eventsOf(80, 100), 200));
        await until(() => world.ledger.acceptedEvents > 5, 700);
        await world.ingest?.kill();
        await quickLog(world);
        await world.startIngest();
        await sending;
      }),
  },
  {
    name: 'kills ingest again and again while clients retry: every id counts once',
    isCalm: false,
    isAboutLog: true,
    run: (bench) =>
      inWorld(bench, {}, async (world) => {
        await world.startIngest();
        world.startAggregator();
        const sending = send(world, asSingles(eventsOf(300, 0), 2_000));
        for (let kill = 0; kill < 3; kill += 1) {
          await delay(300);
          await world.ingest?.kill();
          await world.startIngest();
        }
        await sending;
      }),
  },
  {
    name: 'kills the log after the answer: no accepted event is lost',
    isCalm: false,
    isAboutLog: true,
    run: (bench) =>
      inWorld(bench, {}, async (world) => {
        const { engines, log } = world.options;
        const store = log === 'kafka' ? engines.kafka.broker : engines.postgres;
        await world.startIngest();
        world.startAggregator();
        const sending = send(world, asSingles(eventsOf(200, 0), 800));
        await until(() => world.ledger.acceptedEvents > 60, 5_000);
        await store?.kill();
        await store?.start();
        await sending;
      }),
  },
  {
    name: 'an append whose reply is lost: the retry counts nothing',
    isCalm: false,
    isAboutLog: true,
    skipReason: ({ log }) => (log === 'kafka' ? 'the broker has no proxy' : null),
    run: (bench) =>
      inWorld(bench, {}, async (world, { expect }) => {
        await world.startIngest();
        world.startAggregator();
        await send(world, asSingles(eventsOf(5, 0), 0));
        const { postgresProxy } = world.options.engines;
        postgresProxy.disturb({ kind: 'lose_reply', match: REQUESTS.append, times: 2 });
        postgresProxy.disturb({ kind: 'hold', match: REQUESTS.append, times: 1, holdMs: 700 });
        await send(world, asSingles(eventsOf(60, 100), 300));
        expect(postgresProxy.isSpent, 'no append was disturbed');
        expect(world.ledger.unknownOutcomes > 0, 'every append was answered');
      }),
  },
  {
    name: 'ClickHouse away: every event is accepted meanwhile and counted afterwards',
    isCalm: false,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, {}, async (world) => {
        const { clickhouse } = world.options.engines;
        await world.startIngest();
        world.startAggregator();
        await send(world, asBulks(eventsOf(200, 0)));
        await clickhouse.kill();
        const awayMs = bench.isLong ? 60_000 : 3_000;
        // Ends when every event is accepted, and fails when one is not.
        await send(world, asSingles(eventsOf(300, 1_000), awayMs));
        await clickhouse.start();
      }),
  },
  {
    name: 'a backlog beyond what is read ahead, ClickHouse lost meanwhile: all of it is read',
    isCalm: false,
    isAboutLog: true,
    run: (bench) =>
      inWorld(bench, {}, async (world, { expect }) => {
        const { clickhouse } = world.options.engines;
        const properties = { method: 'GET', filler: 'x'.repeat(FILLER_CHARACTERS) };
        await world.startIngest();
        const events = eventsOf(BACKLOG_EVENTS, 0, () => ({ properties }));
        const clients = new PQueue({ concurrency: REQUESTS_AT_A_TIME });
        await clients.addAll(
          asBulks(events, BACKLOG_REQUEST_EVENTS).map((request) => () => send(world, [request])),
        );
        world.startAggregator();
        expect(await until(() => hasBegun(world), BEGIN_TIMEOUT_MS), 'nothing has been counted');
        await clickhouse.kill();
        // Steps fail meanwhile, so that partitions are taken anew.
        await delay(OUTAGE_MS);
        await clickhouse.start();
      }),
  },
];
