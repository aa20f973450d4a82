import { settle } from '../checks/settle.js';
import type { Disturbance } from '../engines/fault-proxy.js';
import { REQUESTS } from './requests.js';
import { asBulks, eventsOf, inWorld, send, type Scenario } from './scenario.js';

const HOLD_MS = 2_500;

type KindOfDisturbance = Omit<Disturbance, 'times' | 'match'>;

/** Disturbs one request of each kind, in turns, each while a batch of its own is written. */
function disturbing(
  name: string,
  engine: 'clickhouse' | 'postgres',
  disturbance: KindOfDisturbance & { readonly requests: readonly RegExp[] },
): Scenario {
  const { requests, ...kind } = disturbance;
  return {
    name,
    isCalm: false,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, { partitions: 1 }, async (world, { expect }) => {
        const { engines } = world.options;
        const proxy = engine === 'postgres' ? engines.postgresProxy : engines.clickhouseProxy;
        await world.startIngest();
        world.startAggregator();
        await send(world, asBulks(eventsOf(40, 0)));
        await settle(world, bench.settleTimeoutMs);
        for (const [index, match] of requests.entries()) {
          proxy.disturb({ ...kind, match, times: 1 });
          const first = 100 * (index + 1);
          // Ids of the chunk before among them, so that duplicates are written too.
          await send(world, asBulks([...eventsOf(40, first), ...eventsOf(5, 0)]));
          await settle(world, bench.settleTimeoutMs);
          expect(proxy.isSpent, `nothing was disturbed: ${match.source}`);
        }
      }),
  };
}

const { insertEvents, insertIds, insertUsage, insertDuplicates, intend, finish } = REQUESTS;

/** Requests whose replies are lost, or that arrive after their senders gave up. */
export const LOSING_REPLIES: readonly Scenario[] = [
  disturbing('insert whose reply is lost: its rows are not written again', 'clickhouse', {
    kind: 'lose_reply',
    requests: [insertEvents, insertIds, insertUsage, insertDuplicates],
  }),
  disturbing('insert that lands after its sender gave up: it is refused', 'clickhouse', {
    kind: 'hold',
    holdMs: HOLD_MS,
    requests: [insertEvents, insertIds, insertUsage],
  }),
  disturbing('intent and finish whose replies are lost: the row is read again', 'postgres', {
    kind: 'lose_reply',
    requests: [intend, finish],
  }),
  disturbing('intent and finish that land late: guards keep them out', 'postgres', {
    kind: 'hold',
    holdMs: HOLD_MS,
    requests: [intend, finish],
  }),
  {
    name: 'insert that runs when its owner gives up: it is ended before anybody reads',
    isCalm: false,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, { partitions: 1, flushDelayMs: 700 }, async (world, { expect }) => {
        const { clickhouseProxy } = world.options.engines;
        await world.startIngest();
        // Every event a customer of its own: more than 256 KiB of usage rows, or the server would
        // read them all before it starts.
        const shape = (index: number): object => ({
          external_customer_id: `customer with a rather long name ${index}`,
        });
        await send(world, asBulks(eventsOf(6_000, 0, shape), 1_000));
        clickhouseProxy.disturb({ kind: 'split', match: insertUsage, times: 1, holdMs: HOLD_MS });
        world.startAggregator();
        await settle(world, bench.settleTimeoutMs);
        expect(clickhouseProxy.isSpent, 'no insert was split');
      }),
  },
];
