import type { SeededRandom } from '../../../harness/seeded-random.js';
import { ENVIRONMENTS, type EventBody } from './usage-meter.js';

export type PlannedEvent = {
  readonly body: EventBody;
  /** Differs from the event whose id it duplicates, so it is sent after that one was accepted. */
  readonly isConflict: boolean;
};

/** One HTTP request, single or bulk, of one environment. */
export type PlannedRequest = {
  readonly atMs: number;
  readonly environment: number;
  readonly isBulk: boolean;
  readonly events: readonly PlannedEvent[];
};

export type LoadShape = {
  readonly lastsMs: number;
  readonly singles: number;
  readonly bulks: number;
  readonly bulkEventsMax: number;
  /** Part of the events that duplicate an earlier id. */
  readonly duplicates: number;
};

export const SHORT_LOAD: LoadShape = {
  lastsMs: 2_500,
  singles: 120,
  bulks: 40,
  bulkEventsMax: 40,
  duplicates: 0.02,
};

/** Fixed, so that a seed replays to the millisecond; minutes of 2026 and around. */
const BASE_MS = Date.UTC(2026, 4, 17, 12, 0, 0);
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const CUSTOMERS = 12;

/** On time, late, out of order, two hours ahead, long ago. */
function timestampOf(random: SeededRandom, atMs: number): string {
  const offset = random.pick([
    () => 0,
    () => 0,
    () => -random.below(5 * MINUTE_MS),
    () => -random.below(48 * HOUR_MS),
    () => 2 * HOUR_MS,
    () => -random.below(40) * 365 * 24 * HOUR_MS,
  ])();
  return new Date(BASE_MS + atMs + offset).toISOString();
}

function customerOf(random: SeededRandom): Partial<EventBody> {
  const name = `customer-${random.below(CUSTOMERS)}`;
  if (random.chance(0.1)) return { customer_id: `cust_${name}` };
  return { external_customer_id: random.chance(0.05) ? `stranger "${name}"\t\\N` : name };
}

function drawEvent(random: SeededRandom, id: string, atMs: number): EventBody {
  return {
    event_name: random.pick(['api.request', 'api.request', 'api.request', 'job.done', 'nobody']),
    event_id: id,
    ...customerOf(random),
    source: random.pick(['', 'web', 'batch']),
    timestamp: timestampOf(random, atMs),
    properties: {
      method: random.pick(['GET', 'HEAD', 'POST']),
      region: random.pick(['eu', 'us']),
      amount: `${random.below(1_000_000)}.${String(random.below(1_000_000)).padStart(6, '0')}`,
    },
  };
}

/** The same id with another time, another payload, or both. */
function contradict(random: SeededRandom, body: EventBody): EventBody {
  const moved = new Date(Date.parse(body.timestamp) + random.between(1, 90) * MINUTE_MS);
  const changed = { ...body.properties, region: 'elsewhere' };
  return random.pick([
    { ...body, timestamp: moved.toISOString() },
    { ...body, properties: changed },
    { ...body, timestamp: moved.toISOString(), properties: changed },
  ]);
}

type Drawing = {
  readonly random: SeededRandom;
  readonly shape: LoadShape;
  /** What each environment was sent so far. */
  readonly sent: readonly EventBody[][];
};

function drawNext(drawing: Drawing, environment: number, atMs: number): PlannedEvent {
  const { random, shape, sent } = drawing;
  const known = sent[environment] ?? [];
  if (known.length > 0 && random.chance(shape.duplicates)) {
    const body = random.pick(known);
    if (random.chance(0.5)) return { body, isConflict: false };
    return { body: contradict(random, body), isConflict: true };
  }
  // Numbered by environment: every environment has the same ids.
  const body = drawEvent(random, `event|${known.length}`, atMs);
  known.push(body);
  return { body, isConflict: false };
}

/**
 * The requests of one run in order of time. An id's first event is always the one that counts: what
 * contradicts it is sent only after it was accepted.
 */
export function planLoad(random: SeededRandom, shape: LoadShape): readonly PlannedRequest[] {
  const sizes = [
    ...Array.from({ length: shape.singles }, () => 0),
    ...Array.from({ length: shape.bulks }, () => random.between(1, shape.bulkEventsMax)),
  ];
  const times = sizes
    .map((size) => ({ size, atMs: random.below(shape.lastsMs) }))
    .sort((left, right) => left.atMs - right.atMs);
  const drawing = { random, shape, sent: ENVIRONMENTS.map((): EventBody[] => []) };
  return times.map(({ size, atMs }) => {
    const environment = random.pick([0, 0, 1, 2]);
    const count = Math.max(1, size);
    const drawn = Array.from({ length: count }, () => drawNext(drawing, environment, atMs));
    // Within one request nothing tells which of two came first: keep to plain duplicates there.
    const ids = new Set<string>();
    const events = drawn.filter(({ body, isConflict }) => {
      const isAgain = ids.has(body.event_id);
      ids.add(body.event_id);
      return !(isAgain && isConflict);
    });
    return { atMs, environment, isBulk: size > 0, events };
  });
}
