import type { LogKind } from '../engines/fault-engines.js';
import type { Disturbance } from '../engines/fault-proxy.js';
import type { SeededRandom } from '../../../harness/seeded-random.js';
import { REQUESTS } from '../scenarios/requests.js';
import type { StopPoint } from '../world/world.js';

/** One thing that goes wrong, at a time from the start of the load. */
export type Fault = { readonly atMs: number } & (
  | {
      readonly kind: 'kill';
      readonly victim: 'ingest' | 'aggregator' | 'clickhouse' | 'postgres' | 'broker';
      /** Until it is started again. */
      readonly downMs: number;
      /** Which of several brokers, counted from 0; the first when absent. */
      readonly broker?: number;
    }
  | {
      readonly kind: 'freeze';
      readonly victim: 'clickhouse' | 'broker';
      readonly downMs: number;
      readonly broker?: number;
    }
  | { readonly kind: 'move_leaders' }
  | { readonly kind: 'pause_aggregator' }
  | { readonly kind: 'join' }
  | { readonly kind: 'leave' }
  | { readonly kind: 'crash_at_step'; readonly stopPoint: StopPoint }
  | { readonly kind: 'full_disk'; readonly downMs: number }
  | { readonly kind: 'sever'; readonly engine: 'clickhouse' | 'postgres' }
  | {
      readonly kind: 'disturbance';
      readonly engine: 'clickhouse' | 'postgres';
      readonly disturbance: Disturbance;
    }
  | { readonly kind: 'new_meter' }
);

/** Steps that every batch goes through, and those of taking a partition and of recovery. */
export const STEPS = [
  'take',
  'raise_gate',
  'drain',
  'inspect',
  'warm_filter',
  'fetch',
  'look_up',
  'intend',
  'insert events',
  'insert ids',
  'insert usage',
  'insert duplicates',
  'finish',
  'remember',
] as const;

/** Requests worth disturbing, by engine. */
const TARGETS = {
  clickhouse: [
    REQUESTS.insertEvents,
    REQUESTS.insertIds,
    REQUESTS.insertUsage,
    REQUESTS.insertDuplicates,
    REQUESTS.raiseGate,
    REQUESTS.selectAny,
  ],
  postgres: [REQUESTS.intend, REQUESTS.finish, REQUESTS.take, REQUESTS.append, REQUESTS.read],
} as const;

function drawDisturbance(
  random: SeededRandom,
): Omit<Extract<Fault, { kind: 'disturbance' }>, 'atMs'> {
  const engine = random.pick(['clickhouse', 'clickhouse', 'postgres'] as const);
  const disturbance: Disturbance = {
    kind: random.pick(['drop', 'lose_reply', 'lose_reply', 'hold', 'slow'] as const),
    match: random.pick<RegExp>(TARGETS[engine]),
    times: random.between(1, 3),
    holdMs: random.between(200, 1_500),
  };
  return { kind: 'disturbance', engine, disturbance };
}

type Drawn = Fault extends infer One ? (One extends Fault ? Omit<One, 'atMs'> : never) : never;

function drawStopPoint(random: SeededRandom): StopPoint {
  const moment = random.pick(['before', 'after'] as const);
  return { step: random.pick(STEPS), moment, act: 'kill' };
}

/** One fault of each kind that the log allows, the likelier ones more than once. */
function candidates(random: SeededRandom, log: LogKind): readonly (() => Drawn)[] {
  const downMs = (): number => random.between(100, 1_200);
  const kill = (victim: Extract<Fault, { kind: 'kill' }>['victim']) => (): Drawn => ({
    kind: 'kill',
    victim,
    downMs: downMs(),
  });
  const disturbance = (): Drawn => drawDisturbance(random);
  return [
    kill('ingest'),
    kill('aggregator'),
    kill('clickhouse'),
    kill('postgres'),
    kill('clickhouse'),
    kill(log === 'kafka' ? 'broker' : 'postgres'),
    () => ({
      kind: 'freeze',
      victim: log === 'kafka' ? random.pick(['clickhouse', 'broker']) : 'clickhouse',
      downMs: downMs(),
    }),
    () => ({ kind: 'pause_aggregator' }),
    () => ({ kind: 'join' }),
    () => ({ kind: 'leave' }),
    () => ({ kind: 'crash_at_step', stopPoint: drawStopPoint(random) }),
    () => ({ kind: 'crash_at_step', stopPoint: drawStopPoint(random) }),
    () => ({ kind: 'full_disk', downMs: downMs() }),
    () => ({ kind: 'sever', engine: random.pick(['clickhouse', 'postgres']) }),
    () => ({ kind: 'new_meter' }),
    disturbance,
    disturbance,
    disturbance,
  ];
}

/**
 * What happens to one of several brokers at a time. Some are away for so long that the others lead
 * its partitions: a broker that is silent for 3 s is taken for dead.
 */
function brokerCandidates(random: SeededRandom, brokers: number): readonly (() => Drawn)[] {
  const strike = (kind: 'kill' | 'freeze') => (): Drawn => ({
    kind,
    victim: 'broker',
    downMs: random.between(300, 6_000),
    broker: random.below(brokers),
  });
  const [kill, freeze] = [strike('kill'), strike('freeze')];
  const move = (): Drawn => ({ kind: 'move_leaders' });
  return [kill, kill, kill, freeze, freeze, freeze, move, move, move];
}

/** Where a run takes place. */
export type FaultGround = { readonly log: LogKind; readonly brokers: number };

/** Two to five faults within the time, in its order; a meter is created once at most. */
export function planFaults(
  random: SeededRandom,
  { log, brokers }: FaultGround,
  lastsMs: number,
): readonly Fault[] {
  const count = random.between(2, 5);
  const drawn = Array.from({ length: count }, (): Fault => {
    const more = brokers > 1 ? brokerCandidates(random, brokers) : [];
    const fault = random.pick([...candidates(random, log), ...more])();
    return { ...fault, atMs: random.between(100, lastsMs) };
  });
  const firstMeter = drawn.findIndex(({ kind }) => kind === 'new_meter');
  return drawn
    .filter(({ kind }, index) => kind !== 'new_meter' || index === firstMeter)
    .sort((left, right) => left.atMs - right.atMs);
}

function nameOfRequest(match: RegExp): string {
  return Object.entries(REQUESTS).find(([, request]) => request === match)?.[0] ?? match.source;
}

/** A few words for the line of a run. */
// One case a kind of fault: the list is complete because the compiler says so.
// eslint-disable-next-line complexity
export function nameOfFault(fault: Fault): string {
  switch (fault.kind) {
    case 'kill':
    case 'freeze':
      return `${fault.kind} ${fault.victim}${fault.broker === undefined ? '' : ` ${fault.broker + 1}`} ${fault.downMs}ms`;
    case 'crash_at_step':
      return `crash ${fault.stopPoint.moment} ${fault.stopPoint.step}`;
    case 'disturbance':
      return `${fault.disturbance.kind} ${fault.disturbance.times} ${nameOfRequest(fault.disturbance.match)}`;
    case 'full_disk':
      return `full disk ${fault.downMs}ms`;
    case 'sever':
      return `sever ${fault.engine}`;
    case 'pause_aggregator':
    case 'join':
    case 'leave':
    case 'new_meter':
    case 'move_leaders':
      return fault.kind.replaceAll('_', ' ');
  }
}
