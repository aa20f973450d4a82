import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { COUNT_EVENTS } from '../../contract/aggregation.js';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import { indexMeters } from '../fold/meter-index.js';
import { createRandom } from './seeded-random.js';
import { SimulatedWorld, type Dangers, type Mutation } from './simulated-world.js';

const environment = { tenantId: 'tenant_1', environmentId: 'env_1' };
const hashText = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 32);

function eventOf(id: string, source: string): UsageEvent {
  return {
    eventId: id,
    eventName: 'request',
    externalCustomerId: 'acme',
    customerId: null,
    source,
    timestampMs: 90_000,
    isTimestampGiven: true,
    properties: {},
  };
}

/** Nine records with eleven events, of which seven are distinct. */
const IDS: readonly (readonly string[])[] = [
  ['a'],
  ['b', 'a'],
  ['c'],
  ['c'],
  ['d', 'b'],
  ['e'],
  ['a'],
  ['f'],
  ['g'],
];
const DISTINCT = [...new Set(IDS.flat())].sort();
const log = IDS.map((ids) =>
  encodeEventRecord({ environment, receivedAtMs: 5, events: ids.map((id) => eventOf(id, 's')) }),
);
const catalog = {
  version: 1,
  meters: indexMeters(
    [
      {
        environment,
        meterId: 'm',
        version: 1,
        eventName: 'request',
        filters: [],
        aggregation: COUNT_EVENTS,
        generation: 7,
      },
    ],
    hashText,
  ),
};

function createWorld(seed: number, mutations: readonly Mutation[]): SimulatedWorld {
  return new SimulatedWorld({
    surroundings: { logId: 'log', partition: 0, eventsMax: 3, digestOf: hashText },
    log,
    catalog,
    hashText,
    mutations,
    random: createRandom(seed),
    owners: 2,
  });
}

const STORMY: Dangers = { crash: 0.01, insertTimeout: 0.2, lostReply: 0.1 };
const CALM: Dangers = { crash: 0, insertTimeout: 0, lostReply: 0 };

/** Ids stored, and the usage they made; both ought to be one each of the distinct ids. */
function storedOf(world: SimulatedWorld): { ids: string[]; usage: number } {
  const ids = world.parts.events.flatMap((part) => part.rows.map((row) => String(row[5]))).sort();
  const usage = world.parts.usage
    .flatMap((part) => part.rows)
    .filter((row) => row[3] === 'm')
    .reduce((sum, row) => sum + Number(row[8]), 0);
  return { ids, usage };
}

/** Runs a stormy while, then calm until everything is consumed; null when it never is. */
function run(seed: number, mutations: readonly Mutation[]): SimulatedWorld | null {
  const world = createWorld(seed, mutations);
  for (let step = 0; step < 400; step += 1) world.advance(STORMY);
  world.leaveOneOwner();
  for (let step = 0; step < 20_000 && !world.isFinished; step += 1) world.advance(CALM);
  for (let step = 0; step < 300; step += 1) world.advance(CALM);
  return world.isFinished ? world : null;
}

function isExact(world: SimulatedWorld | null): boolean {
  if (world === null) return false;
  const { ids, usage } = storedOf(world);
  return JSON.stringify(ids) === JSON.stringify(DISTINCT) && usage === DISTINCT.length;
}

describe('the protocol of one partition', () => {
  it('counts every id once, whatever crashes, hangs or arrives late, for 2,000 seeds', () => {
    const wrong: number[] = [];
    for (let seed = 1; seed <= 2_000; seed += 1) if (!isExact(run(seed, []))) wrong.push(seed);
    expect(wrong).toEqual([]);
  });

  it.each<Mutation>([
    'no_gate',
    'no_drain',
    'no_presence_check',
    'no_bound_below_batch',
    'no_epoch_guard',
    'no_pending_guard',
    'marks_before_write',
  ])('is noticed to be wrong when it is mutated: %s', (mutation) => {
    let found = 0;
    for (let seed = 1; seed <= 3_000 && found === 0; seed += 1) {
      if (!isExact(run(seed, [mutation]))) found = seed;
    }
    expect(found).toBeGreaterThan(0);
  });
});
