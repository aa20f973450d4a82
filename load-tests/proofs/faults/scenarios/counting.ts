import { setTimeout as delay } from 'node:timers/promises';
import { settle } from '../checks/settle.js';
import { LATE_METER } from '../load/usage-meter.js';
import { readGenerations, readUsage } from '../checks/read-stores.js';
import type { PlannedEvent } from '../load/plan-load.js';
import type { World } from '../world/world.js';
import { asBulks, asSingles, eventsOf, inWorld, send, until, type Scenario } from './scenario.js';

const HOUR_MS = 3_600_000;
const APPEAR_TIMEOUT_MS = 30_000;

async function startAll(world: World): Promise<void> {
  await world.startIngest();
  world.startAggregator();
}

/** The same ids with another time, another payload, or both. */
function contradictions(events: readonly PlannedEvent[]): readonly PlannedEvent[] {
  return events.map(({ body }, index) => {
    const moved = new Date(Date.parse(body.timestamp) + HOUR_MS).toISOString();
    const properties = { ...body.properties, method: 'POST' };
    const changed = [{ timestamp: moved }, { properties }, { timestamp: moved, properties }];
    return { body: { ...body, ...changed[index % 3] }, isConflict: true };
  });
}

async function usageOfLateMeter(world: World): Promise<number> {
  const generations = await readGenerations(world);
  const read = generations.get(LATE_METER.meterId) ?? [];
  const usage = await readUsage(world, LATE_METER, read);
  return [...usage.values()].reduce((sum, value) => sum + Number(value), 0);
}

/** Which events count, how often and where. */
export const COUNTING: readonly Scenario[] = [
  {
    name: 'same id with another timestamp: it counts once, and the conflict is kept',
    isCalm: true,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, {}, async (world, { expect }) => {
        await startAll(world);
        const events = eventsOf(60, 0);
        await send(world, asBulks(events));
        await send(world, asSingles(contradictions(events.slice(0, 30)), 300));
        await settle(world, bench.settleTimeoutMs);
        await send(world, asSingles(contradictions(events.slice(30)), 300));
        expect(world.ledger.acceptedEvents === 120, 'a duplicate was not accepted');
      }),
  },
  {
    name: 'the id filter dies with its process: a duplicate sent afterwards counts nothing',
    isCalm: false,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, {}, async (world) => {
        await startAll(world);
        const events = eventsOf(300, 0);
        await send(world, asBulks(events));
        await settle(world, bench.settleTimeoutMs);
        for (const program of world.aggregators) await program.kill();
        await world.options.engines.clickhouse.kill();
        await world.options.engines.clickhouse.start();
        await world.forgetDeadMembers();
        world.startAggregator();
        await send(world, asBulks(events));
      }),
  },
  {
    name: 'event dated two hours ahead: it counts in its own minute',
    isCalm: true,
    isAboutLog: true,
    run: (bench) =>
      inWorld(bench, {}, async (world) => {
        await startAll(world);
        const ahead = new Date(Date.now() + 2 * HOUR_MS).toISOString();
        const ancient = '1970-01-01T00:00:00.000Z';
        const last = '2199-12-31T23:59:59.999Z';
        const times = [ahead, ancient, last, new Date().toISOString()];
        await send(
          world,
          asSingles(
            eventsOf(40, 0, (index) => ({ timestamp: times[index % 4] ?? ahead })),
            200,
          ),
        );
      }),
  },
  {
    name: "events sent before the consumer's very first start: all of them count",
    isCalm: true,
    isAboutLog: true,
    run: (bench) =>
      inWorld(bench, {}, async (world) => {
        await world.startIngest();
        await send(world, asBulks(eventsOf(400, 0)));
        world.startAggregator();
        await settle(world, bench.settleTimeoutMs);
        await send(world, asBulks(eventsOf(50, 1_000)));
      }),
  },
  {
    name: 'new meter applied within two seconds',
    isCalm: true,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, {}, async (world, { expect }) => {
        await startAll(world);
        await send(world, asBulks(eventsOf(50, 0)));
        await settle(world, bench.settleTimeoutMs);
        await world.addMeter(LATE_METER);
        await delay(2_000);
        await send(world, asSingles(eventsOf(10, 1_000), 0));
        const isThere = await until(
          async () => (await usageOfLateMeter(world)) === 60,
          APPEAR_TIMEOUT_MS,
        );
        expect(isThere, 'what came after the meter is not counted on it');
      }),
  },
  {
    name: 'a meter created while events flow counts each of them once',
    isCalm: true,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, { flushDelayMs: 20, batchEventsMax: 30 }, async (world) => {
        await startAll(world);
        const sending = send(world, asSingles(eventsOf(400, 0), 2_000));
        await delay(700);
        await world.addMeter(LATE_METER);
        await sending;
      }),
  },
];
