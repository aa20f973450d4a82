import { setTimeout as delay } from 'node:timers/promises';
import type { MortalEngine } from '../engines/mortal-engine.js';
import { LATE_METER } from '../load/usage-meter.js';
import type { Supervisor } from '../world/supervisor.js';
import type { World } from '../world/world.js';
import type { Fault } from './plan-faults.js';

/** A member silent for 5 s is taken for dead; a little longer, and its partitions have moved. */
const PAUSE_MS = 6_500;
const METER_ATTEMPTS = 60;
const METER_PAUSE_MS = 250;

async function killEngine(engine: MortalEngine, downMs: number): Promise<void> {
  await engine.kill();
  await delay(downMs);
  await engine.start();
}

async function freezeEngine(engine: MortalEngine, downMs: number): Promise<void> {
  engine.freeze();
  await delay(downMs);
  engine.thaw();
}

async function kill(
  world: World,
  supervisor: Supervisor,
  fault: Fault & { kind: 'kill' },
): Promise<void> {
  const { engines } = world.options;
  const { victim, downMs } = fault;
  if (victim === 'ingest') return supervisor.killIngest(downMs);
  if (victim === 'aggregator') {
    const place = supervisor.aggregators[0];
    return place === undefined ? undefined : supervisor.kill(place, downMs);
  }
  if (victim !== 'broker') return killEngine(engines[victim], downMs);
  await engines.kafka.cluster?.strike(fault.broker ?? 0, (engine) => killEngine(engine, downMs));
  return undefined;
}

/** SIGSTOP until others own its partitions, then SIGCONT: it still believes that it owns them. */
async function pauseAggregator(supervisor: Supervisor): Promise<void> {
  const place = supervisor.aggregators[0];
  if (place === undefined) return;
  if (supervisor.aggregators.length < 2) supervisor.join();
  const { program } = place;
  program.freeze();
  await delay(PAUSE_MS);
  program.thaw();
}

async function fillDisk(world: World, downMs: number): Promise<void> {
  const { disk } = world.options.engines.disk;
  if (disk === null) return;
  disk.fill();
  await delay(downMs);
  disk.free();
}

/** As a client of the API does: again, until it is told that the meter exists. */
async function addMeter(world: World): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await world.addMeter(LATE_METER);
      return;
    } catch (error) {
      if (attempt === METER_ATTEMPTS) throw error;
      await delay(METER_PAUSE_MS);
    }
  }
}

// One case a kind of fault: the list is complete because the compiler says so.
// eslint-disable-next-line complexity
async function perform(world: World, supervisor: Supervisor, fault: Fault): Promise<void> {
  const { engines } = world.options;
  switch (fault.kind) {
    case 'kill':
      return kill(world, supervisor, fault);
    case 'freeze': {
      if (fault.victim === 'clickhouse') return freezeEngine(engines.clickhouse, fault.downMs);
      return engines.kafka.cluster?.strike(fault.broker ?? 0, (engine) =>
        freezeEngine(engine, fault.downMs),
      );
    }
    case 'move_leaders':
      return engines.kafka.cluster?.moveLeaders();
    case 'pause_aggregator':
      return pauseAggregator(supervisor);
    case 'join':
      return supervisor.join();
    case 'leave': {
      const place = supervisor.aggregators.at(-1);
      return place !== undefined && supervisor.aggregators.length > 1
        ? supervisor.leave(place)
        : undefined;
    }
    case 'crash_at_step':
      supervisor.joinCrashing(fault.stopPoint);
      return undefined;
    case 'full_disk':
      return fillDisk(world, fault.downMs);
    case 'sever':
      return (
        fault.engine === 'postgres' ? engines.postgresProxy : engines.clickhouseProxy
      ).sever();
    case 'disturbance': {
      const { engine, disturbance } = fault;
      (engine === 'postgres' ? engines.postgresProxy : engines.clickhouseProxy).disturb(
        disturbance,
      );
      return undefined;
    }
    case 'new_meter':
      return addMeter(world);
  }
}

/** Lets the faults happen at their times; resolves when the last is over. */
export async function inflict(
  world: World,
  supervisor: Supervisor,
  faults: readonly Fault[],
): Promise<void> {
  const startedAt = performance.now();
  await Promise.all(
    faults.map(async (fault) => {
      await delay(Math.max(0, fault.atMs - (performance.now() - startedAt)));
      await perform(world, supervisor, fault);
    }),
  );
}

/** Restores what the next run relies on: engines run, proxies disturb nothing, the disk is free. */
export async function restoreEngines(world: World): Promise<void> {
  const { engines } = world.options;
  engines.disk.disk?.free();
  await Promise.all([
    engines.postgresProxy.calm(),
    engines.clickhouseProxy.calm(),
    engines.postgres.start(),
    engines.clickhouse.start(),
    engines.kafka.cluster?.start(),
  ]);
}
