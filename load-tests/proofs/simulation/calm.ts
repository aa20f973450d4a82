import { requestName, writeName, type Action } from './actions.js';
import { applyAction } from './apply-action.js';
import { checkRest, checkWorld } from './checks.js';
import type { Scenario } from './scenario.js';
import type { World } from './world.js';

/** More steps than any world needs until nothing is left to do. */
const CALM_ACTIONS_MAX = 20_000;

function calmOfOwner(world: World, partition: number): Action | null {
  const at = { partition, owner: 0 };
  const { owners, logEnd } = world.partitions[partition] ?? { owners: [], logEnd: 0 };
  const owner = owners[0];
  if (owner === undefined) return null;
  if (owner.inserting !== null) return null;
  const { command } = owner.step;
  const { version } = world.meters;
  switch (command.kind) {
    case 'halt':
      return null;
    case 'step_down':
      return { kind: 'again', ...at };
    case 'fetch': {
      const records = logEnd - command.from;
      return records <= 0 ? null : { kind: 'read', ...at, records, version };
    }
    case 'refetch':
      return { kind: 'read', ...at, records: command.intent.end - command.from, version };
    case 'load_catalog':
      return { kind: 'read', ...at, records: 0, version };
    default:
      return { kind: 'act', ...at };
  }
}

function calmOfMeters({ meters }: World): readonly Action[] {
  const attempt = meters.attempts[0];
  if (attempt !== undefined) return [{ kind: 'backfill', generation: attempt.generation }];
  return meters.versions.map((_, version) => ({ kind: 'claim', version }));
}

function lateActions(world: World): readonly Action[] {
  const requests = world.requests.filter(({ process }) => process === null);
  const writes = world.partitions.flatMap(({ lateWrites }, partition) =>
    lateWrites.map((write): Action => ({ kind: 'land', partition, write: writeName(write) })),
  );
  const served = requests
    .map(requestName)
    .map((request): Action => ({ kind: 'serve_late', request }));
  return [...served, ...writes];
}

function servedActions({ requests }: World): readonly Action[] {
  return requests.flatMap((request): Action[] => {
    const { process: owner } = request;
    return owner === null ? [] : [{ kind: 'serve', owner, request: requestName(request) }];
  });
}

/** All processes die, log and rows are completed, and from here on nothing fails. */
function openingActions(scenario: Scenario, world: World): readonly Action[] {
  const { owners } = scenario.plan;
  const crashes = Array.from({ length: owners }, (_, owner): Action => ({ kind: 'crash', owner }));
  const completions = world.partitions.flatMap(({ row }, partition): Action[] => [
    ...(row === null ? [{ kind: 'make_row', partition } as const] : []),
    { kind: 'append', partition, records: scenario.partitions[partition]?.records.length ?? 0 },
  ]);
  // An owner that takes a partition then finds the last batch without them.
  const removals = world.partitions.map((_, partition): Action => ({
    kind: 'remove_erased',
    partition,
  }));
  return [...removals, ...crashes, ...completions];
}

export type Calm = { readonly world: World; readonly steps: number; readonly wrong: string | null };

/** Applies the possible actions and checks the world after each; stops at the first wrong one. */
export function runActions(scenario: Scenario, start: World, actions: readonly Action[]): Calm {
  let world = start;
  let steps = 0;
  for (const action of actions) {
    const next = applyAction(scenario, world, action);
    if (next === null) continue;
    steps += 1;
    const wrong = checkWorld(scenario, next, world);
    world = next;
    if (wrong !== null) return { world, steps, wrong };
  }
  return { world, steps, wrong: null };
}

function calmActions(scenario: Scenario, world: World): readonly Action[] {
  const ofOwners = world.partitions.flatMap((_, partition) => {
    const action = calmOfOwner(world, partition);
    return action === null ? [] : [action];
  });
  const actions = [...ofOwners, ...servedActions(world)];
  return actions.length > 0 ? actions : calmOfMeters(world);
}

function rest(scenario: Scenario, start: World): Calm {
  let calm: Calm = { world: start, steps: 0, wrong: null };
  while (calm.steps < CALM_ACTIONS_MAX) {
    const next = runActions(scenario, calm.world, calmActions(scenario, calm.world));
    if (next.wrong !== null || next.steps === 0) return { ...next, steps: calm.steps + next.steps };
    calm = { ...next, steps: calm.steps + next.steps };
  }
  return calm;
}

/**
 * Runs the world on without failures and with one owner per partition. All records must be consumed
 * and every backfill become visible. Then the late requests arrive, and they must change nothing.
 */
export function calmDown(scenario: Scenario, start: World): Calm {
  const opened = runActions(scenario, start, openingActions(scenario, start));
  if (opened.wrong !== null) return opened;
  const rested = rest(scenario, opened.world);
  const steps = opened.steps + rested.steps;
  if (rested.wrong !== null) return { ...rested, steps };
  const wrong = checkRest(scenario, rested.world);
  if (wrong !== null) return { world: rested.world, steps, wrong };
  let landed = rested;
  for (let round = 0; round < 3 && landed.wrong === null; round += 1) {
    landed = runActions(scenario, landed.world, lateActions(landed.world));
  }
  if (landed.wrong !== null) return { ...landed, steps };
  return { world: landed.world, steps, wrong: checkRest(scenario, landed.world) };
}
