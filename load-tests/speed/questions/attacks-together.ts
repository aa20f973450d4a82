import { once } from 'node:events';
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { tableLines } from '../../../cli/look/tables.js';
import { assertPresent } from '../../../runtime/failure.js';
import { ATTACK_NAMES, type AttackName } from '../attacks/attack-list.js';
import type { AttackOrder, AttackReport } from '../attacks/attack-thread.js';
import { openAttackWorld, type AttackWorld } from '../attacks/attack-world.js';
import { Bystander, type BystanderTimes } from '../attacks/bystander.js';
import { highWaterOf, memoryOf } from '../processes.js';
import { writeResults } from './write-results.js';

/**
 * Whether a tenant with a modest mixed load is served while another tenant attacks, one attack
 * after the other and then all of them at once, twice: `npm run measure -- attacks-together
 * [--alone 60] [--seconds 10] [--together 30] [--only bodies]`. Ends with status 1 when one request
 * of the bystander was refused, when one of its events is missing or counted twice, or when memory
 * stays taken.
 */
const THREAD = new URL('../attacks/attack-thread.js', import.meta.url);

/** What a program may hold more than before, in MB: its heap, and buffers outside of it. */
const HELD_MB_MAX = 75;
/**
 * What may stay of the memory of a process, in MB. The C library keeps most of what was freed for
 * the next requests: in ingest about twice the memory that bodies may have (100 MB), since they
 * come in pieces.
 */
const KEPT_MB_MAX = 250;
/** After the attacks came a second time: what stays must not grow with each of them. */
const GROWN_MB_MAX = 75;
const CALM_MS = 90_000;
const VISIBLE_MS = 600_000;
const POLL_MS = 500;
const MIB = 1024 * 1024;
const LAG_METRIC = /^nodejs_eventloop_lag_max_seconds(?:\{[^}]*\})? ([\d.e-]+)$/m;
const HELD_METRICS = /^nodejs_(?:heap_size_total|external_memory)_bytes(?:\{[^}]*\})? (\d+)$/gm;

type Phase = {
  readonly name: string;
  readonly times: BystanderTimes;
  readonly report: readonly AttackReport[];
  /** The longest step of the request thread of the billing API, in ms. */
  readonly longestMs: number;
};

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    together: { type: 'string', default: '30' },
    alone: { type: 'string', default: '60' },
    only: { type: 'string', default: '' },
  },
});

type Run = { readonly world: AttackWorld; readonly bystander: Bystander; readonly phases: Phase[] };

/** A thread that attacks until `end`, which tells what was answered. */
function startAttack(name: AttackName, attacker: AttackOrder['attacker']) {
  const workerData: AttackOrder = { name, attacker };
  const thread = new Worker(THREAD, { workerData });
  const ended = once(thread, 'message');
  const failed = once(thread, 'error').then(([error]) => Promise.reject(error as Error));
  failed.catch(() => undefined);
  const end = async (): Promise<AttackReport> => {
    thread.postMessage('end');
    const [report] = (await Promise.race([ended, failed])) as [AttackReport];
    await thread.terminate();
    return report;
  };
  return { failed, end };
}

async function attackFor(
  run: Run,
  name: string,
  order: { readonly names: readonly AttackName[]; readonly seconds: number },
): Promise<void> {
  await longestStepOf(run.world);
  run.bystander.enter(name);
  const attacks = order.names.map((attack) => startAttack(attack, run.world.attacker));
  await Promise.race([delay(order.seconds * 1_000), ...attacks.map(({ failed }) => failed)]);
  const report = await Promise.all(attacks.map(({ end }) => end()));
  const longestMs = await longestStepOf(run.world);
  run.phases.push({ name, times: run.bystander.enter('after an attack'), report, longestMs });
  const { accepted, refusals } = run.bystander;
  const memory = [...(await residentOf(run.world))].map(([of, taken]) => `${of} ${taken} MB`);
  const soFar = `${accepted} events of the bystander, ${refusals.length} refusals`;
  console.log(`${name}: so far ${soFar}; ${memory.join(', ')}`);
}

/** The longest delay of the event loop of the billing API since it was asked for last, in ms. */
async function longestStepOf({ programs }: AttackWorld): Promise<number> {
  const { operationsUrl } = assertPresent(programs.get('billing-api'), 'billing-api');
  const text = await (await fetch(`${operationsUrl}/metrics`)).text();
  const [, seconds] = assertPresent(LAG_METRIC.exec(text), 'the delay of the event loop');
  return Number(seconds) * 1_000;
}

/** In MB, by program. */
async function residentOf({ programs }: AttackWorld): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const [name, { pid }] of programs) {
    const { resident } = assertPresent(await memoryOf(pid), name);
    found.set(name, Math.round(resident));
  }
  return found;
}

/** What each program itself holds, in MB: its heap, and its buffers outside of it. */
async function heldOf({ programs }: AttackWorld): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const [name, { operationsUrl }] of programs) {
    const text = await (await fetch(`${operationsUrl}/metrics`)).text();
    const sizes = [...text.matchAll(HELD_METRICS)].map(([, bytes]) => Number(bytes));
    found.set(name, Math.round(sizes.reduce((sum, bytes) => sum + bytes, 0) / MIB));
  }
  return found;
}

/** Whether no program takes more than its most. */
function isAtMost(found: ReadonlyMap<string, number>, most: ReadonlyMap<string, number>): boolean {
  return [...found].every(([name, taken]) => taken <= (most.get(name) ?? 0));
}

type Taken = Readonly<Record<'resident' | 'held', ReadonlyMap<string, number>>>;

async function takenBy(world: AttackWorld): Promise<Taken> {
  return { resident: await residentOf(world), held: await heldOf(world) };
}

const isBack = (found: Taken, most: Taken): boolean =>
  isAtMost(found.resident, most.resident) && isAtMost(found.held, most.held);

/** What is taken once the attacks are over, as soon as that is little enough. */
async function takenInCalm(world: AttackWorld, most: Taken): Promise<Taken> {
  const endsAt = performance.now() + CALM_MS;
  for (;;) {
    const found = await takenBy(world);
    if (isBack(found, most) || performance.now() > endsAt) return found;
    await delay(POLL_MS);
  }
}

const plus = (memory: ReadonlyMap<string, number>, more: number): ReadonlyMap<string, number> =>
  new Map([...memory].map(([name, taken]) => [name, taken + more]));

const lesser = (
  left: ReadonlyMap<string, number>,
  right: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> =>
  new Map([...left].map(([name, taken]) => [name, Math.min(taken, right.get(name) ?? taken)]));

/** The bystander's usage once nothing is missing any more; seconds that it took. */
async function countedOf({ world, bystander }: Run): Promise<readonly [string, number]> {
  const { api, meterId } = world.bystander;
  const startedAt = performance.now();
  const expected = String(3 * bystander.accepted);
  for (;;) {
    const { value } = await api.post<{ readonly value: string }>('/events/usage/meter', {
      meter_id: meterId,
    });
    const ms = performance.now() - startedAt;
    if (value === expected || ms > VISIBLE_MS) return [value, ms / 1_000];
    await delay(POLL_MS);
  }
}

function timesLines(phases: readonly Phase[]): readonly (readonly string[])[] {
  return phases.flatMap(({ name, times }) =>
    [...times].map(([kind, found]) => {
      const at = (share: number): string => (found.getValueAtPercentile(share) / 1_000).toFixed(0);
      return [name, kind, String(found.totalCount), at(50), at(99), at(100)];
    }),
  );
}

function reportLines(phases: readonly Phase[]): readonly (readonly string[])[] {
  return phases.flatMap(({ name, report }) =>
    report.map(([attack, statuses]) => [
      name,
      attack,
      [...statuses].map(([status, count]) => `${count} × ${status}`).join(', '),
    ]),
  );
}

function print(head: readonly string[], rows: readonly (readonly string[])[]): void {
  for (const line of tableLines([...head], rows)) console.log(line);
  console.log('');
}

const world = await openAttackWorld();
const bystander = new Bystander(world.bystander);
const run: Run = { world, bystander, phases: [] };
const seconds = Number(values.seconds);
const names = ATTACK_NAMES.filter((name) => name.includes(values.only));
try {
  // Code is compiled and pools are filled, by the attacker as well, before memory is looked at.
  await attackFor(run, 'alone, first', { names: [], seconds: Number(values.alone) });
  await attackFor(run, 'alone', { names: [], seconds });
  const before = await takenBy(world);
  for (const name of names) await attackFor(run, name, { names: [name], seconds });
  const together = { names, seconds: Number(values.together) };
  await attackFor(run, 'all at once', together);
  bystander.enter('calm');
  const most = {
    resident: plus(before.resident, KEPT_MB_MAX),
    held: plus(before.held, HELD_MB_MAX),
  };
  const first = await takenInCalm(world, most);
  await attackFor(run, 'all at once again', together);
  bystander.enter('calm');
  const mostAgain = {
    ...most,
    resident: lesser(most.resident, plus(first.resident, GROWN_MB_MAX)),
  };
  const second = await takenInCalm(world, mostAgain);
  await bystander.leave();
  const [counted, lag] = await countedOf(run);
  const highWater = new Map<string, number>();
  for (const [name, { pid }] of world.programs) {
    highWater.set(name, Math.round((await highWaterOf(pid)) ?? 0));
  }
  print(['phase', 'bystander', 'answers', 'p50 ms', 'p99 ms', 'max ms'], timesLines(run.phases));
  const steps = run.phases.map(({ name, longestMs }) => [name, longestMs.toFixed(1)]);
  print(['phase', 'longest step ms'], steps);
  print(['phase', 'attack', 'answers'], reportLines(run.phases));
  const columns = [
    before.resident,
    first.resident,
    second.resident,
    mostAgain.resident,
    highWater,
    before.held,
    second.held,
    most.held,
  ];
  const memory = [...before.resident.keys()].map((name) => [
    name,
    ...columns.map((found) => String(found.get(name) ?? 0)),
  ]);
  const ofResident = ['MB', 'before', 'after', 'after again', 'allowed', 'greatest'];
  print([...ofResident, 'held before', 'after again', 'allowed'], memory);
  for (const refusal of bystander.refusals.slice(0, 40)) console.log(refusal);
  const expected = String(3 * bystander.accepted);
  console.log(`refused: ${bystander.refusals.length}`);
  console.log(`events: ${bystander.accepted}; usage ${counted}, by hand ${expected}, ${lag} s`);
  const isCounted = counted === expected;
  const isRight = bystander.refusals.length === 0 && isCounted && isBack(second, mostAgain);
  console.log(isRight ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = isRight ? 0 : 1;
  await writeResults('attacks-together', {
    load: loadavg()[0],
    refusals: bystander.refusals,
    memory,
    times: timesLines(run.phases),
    reports: reportLines(run.phases),
  });
} finally {
  await world.close();
}
