import { setTimeout as delay } from 'node:timers/promises';
import { assertPresent } from '../../../../runtime/failure.js';
import { settle } from '../checks/settle.js';
import { FIRST_METERS, LATE_METER, type UsageMeter } from '../load/usage-meter.js';
import { hasUsage } from '../checks/read-stores.js';
import type { PlannedEvent } from '../load/plan-load.js';
import type { World } from '../world/world.js';
import { asBulks, asSingles, eventsOf, inWorld, send, until, type Scenario } from './scenario.js';

const HOUR_MS = 3_600_000;
/** What a new meter may cost: an event on it may be counted this much later than one before it. */
const APPLIED_WITHIN_MS = 2_000;
/** Events on a meter that is known already, before the new one and again after it. */
const USUAL_LAGS = 3;
/** A busy machine stands still now and then; a slow product is slow every time. */
const LAG_ATTEMPTS = 3;
const LAG_MAX_MS = 30_000;

/** Counts every event of `eventsOf`. */
const KNOWN_METER = assertPresent(FIRST_METERS[0], 'a first meter');

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

/** How long after an event is sent its usage on the meter is stored; null when it never is. */
async function lagOf(world: World, meter: UsageMeter, index: number): Promise<number | null> {
  const customer = `customer of event ${index}`;
  const startedAt = performance.now();
  const [event] = eventsOf(1, index, () => ({ external_customer_id: customer }));
  if (event !== undefined) await send(world, asSingles([event], 0));
  const isThere = await until(() => hasUsage(world, meter, `e:${customer}`), LAG_MAX_MS);
  return isThere ? performance.now() - startedAt : null;
}

/** The longest lag of some events on a meter that every batch knows; null when one is missing. */
async function usualLag(world: World, first: number): Promise<number | null> {
  const lags: number[] = [];
  for (let index = first; index < first + USUAL_LAGS; index += 1) {
    const lag = await lagOf(world, KNOWN_METER, index);
    if (lag === null) return null;
    lags.push(lag);
  }
  return Math.max(...lags);
}

/**
 * Creates a meter and sends an event directly afterwards. Says why it was counted too late,
 * compared with events on a known meter on the same machine at the same time; null when it was not.
 */
async function findLateness(world: World, attempt: number): Promise<string | null> {
  const first = 1_000 * attempt;
  const before = await usualLag(world, first);
  const meter = { ...LATE_METER, meterId: `${LATE_METER.meterId}_${attempt}` };
  await world.addMeter(meter);
  const lag = await lagOf(world, meter, first + 100);
  const after = await usualLag(world, first + 200);
  if (lag === null || before === null || after === null) return 'an event was never counted';
  const usual = Math.max(before, after);
  if (lag <= usual + APPLIED_WITHIN_MS) return null;
  return `counted after ${lag.toFixed(0)} ms, others after ${usual.toFixed(0)} ms at most`;
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
        let lateness: string | null = null;
        for (let attempt = 1; attempt <= LAG_ATTEMPTS; attempt += 1) {
          lateness = await findLateness(world, attempt);
          if (lateness === null) break;
        }
        expect(lateness === null, `an event on a new meter: ${lateness ?? ''}`);
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
