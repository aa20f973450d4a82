import { z } from 'zod';
import { environmentKey } from '../../../contract/environment.js';
import { HOUR_MS, minuteOf, type InstantMs } from '../../../contract/instant.js';
import { readCheckpoints } from '../../usage/watermark/checkpoints.js';
import type { Engines } from './balance-closed-hours.js';
import { readErasingEnvironments, readErasureClock } from './erased-events.js';
import { boundsOf } from './finished-events.js';
import {
  CUSTOMER_GROUPS,
  findMetersToRecount,
  recountMeters,
  type Drift,
  type RecountPart,
} from './usage-recount.js';

/** Hours of the events' own time that are recounted, up to the last whole minute. */
const HOURS = 6;
/** Meters a time: the others follow in later turns, and then the first ones again. */
const METERS_MAX = 50;
/** How long the turns of a minute may take: what is left goes on in the next one. */
const MINUTE_BUDGET_MS = 5_000;
/** As many customers are in a turn as take about so long, going by the turn before. */
const TURN_AIM_MS = 3_000;
/** In the first turn of an hour, which tells how much is in it. */
const GROUPS_FIRST = 4;

/**
 * Where the recounts stand. A turn is some meters, one hour and some groups of customers, so that
 * it takes seconds however many events there are. The meters behind an id have their hours one
 * after the other, and then the next meters.
 */
export const recountState = z.object({
  behindId: z.string(),
  /** Meters of a turn: fewer after one that failed, since it may have taken too long. */
  metersMax: z.number(),
  /** Of the last hours, from the oldest. */
  hour: z.number(),
  /** The first of the next groups. */
  group: z.number(),
  /** Groups of the next turn. */
  groupsMax: z.number(),
  /** Where the last recount of each meter, hour and group found a difference. */
  drifts: z
    .array(
      z.object({
        meterId: z.string(),
        hourMs: z.number(),
        group: z.number(),
        events: z.number(),
      }) satisfies z.ZodType<Drift>,
    )
    .readonly(),
});

export type RecountState = z.output<typeof recountState>;

export function beginRecounts(): RecountState {
  const at = { behindId: '', hour: 0, group: 0 };
  return { ...at, metersMax: METERS_MAX, groupsMax: GROUPS_FIRST, drifts: [] };
}

/** Events too many or too few, of all meters so far. */
export function sumOfDrifts({ drifts }: RecountState): number {
  return drifts.reduce((sum, { events }) => sum + events, 0);
}

const firstHour = (now: InstantMs): InstantMs => (Math.floor(now / HOUR_MS) - HOURS + 1) * HOUR_MS;

function partOf({ hour, group, groupsMax }: RecountState, now: InstantMs): RecountPart {
  const startMs = firstHour(now) + hour * HOUR_MS;
  const minutes = { startMs, endMs: Math.min(startMs + HOUR_MS, minuteOf(now)) };
  return { minutes, groups: [group, Math.min(group + groupsMax, CUSTOMER_GROUPS)] };
}

/** An hour may hold very much more than the one before it. */
function enterHour(state: RecountState, hour: number): void {
  state.hour = hour;
  state.group = 0;
  state.groupsMax = GROUPS_FIRST;
}

/** Goes on with the next meters. @returns whether the round of all meters is over. */
function leaveMeters(state: RecountState, lastId: string | null): boolean {
  enterHour(state, 0);
  state.behindId = lastId ?? '';
  state.metersMax = Math.min(METERS_MAX, 2 * state.metersMax);
  return lastId === null;
}

/** Goes on behind a part. @returns whether the round of all meters is over. */
function advance(state: RecountState, groupsTo: number, lastId: string | null): boolean {
  if (lastId === null) return leaveMeters(state, lastId);
  state.group = groupsTo;
  if (groupsTo < CUSTOMER_GROUPS) return false;
  enterHour(state, state.hour + 1);
  return state.hour < HOURS ? false : leaveMeters(state, lastId);
}

/** After a failure less is tried; one meter that fails by itself is left out. */
function shrink(state: RecountState, lastId: string | null): void {
  if (state.groupsMax > 1) state.groupsMax = Math.floor(state.groupsMax / 2);
  else if (state.metersMax > 1) state.metersMax = Math.floor(state.metersMax / 2);
  else leaveMeters(state, lastId);
}

function adapt(state: RecountState, groups: number, tookMs: number): void {
  const wanted = Math.floor((groups * TURN_AIM_MS) / tookMs);
  state.groupsMax = Math.min(CUSTOMER_GROUPS, Math.max(1, wanted));
}

type Recounted = RecountPart & {
  readonly meterIds: ReadonlySet<string>;
  /** What is older is recounted no more. */
  readonly sinceMs: InstantMs;
};

/** What differs when a part has been recounted: what was found in it, and what was elsewhere. */
function afterTurn(
  drifts: readonly Drift[],
  { meterIds, minutes, groups: [from, to], sinceMs }: Recounted,
  found: readonly Drift[],
): readonly Drift[] {
  const isInPart = ({ meterId, hourMs, group }: Drift): boolean =>
    meterIds.has(meterId) && hourMs === minutes.startMs && group >= from && group < to;
  const others = drifts.filter((drift) => drift.hourMs >= sinceMs && !isInPart(drift));
  return [...others, ...found.filter(({ meterId }) => meterIds.has(meterId))];
}

/** Recounts one part. @returns whether the round of all meters is over. @throws DependencyError. */
async function takeTurn(
  { database, clickHouse }: Engines,
  state: RecountState,
  now: InstantMs,
): Promise<boolean> {
  const page = { behindId: state.behindId, limit: state.metersMax };
  const { meters, lastId } = await findMetersToRecount(database, page);
  const { minutes, groups } = partOf(state, now);
  const since = await readErasureClock(database);
  const bounds = boundsOf(await readCheckpoints(database));
  const startedAt = performance.now();
  try {
    const found = await recountMeters(clickHouse, meters, { minutes, groups, bounds });
    const erasing = await readErasingEnvironments(database, since);
    // Minutes and events of the others went meanwhile, one after the other.
    const sound = meters.filter(({ environment }) => !erasing.has(environmentKey(environment)));
    const meterIds = new Set(sound.map(({ meter }) => meter.meterId));
    const sinceMs = firstHour(now);
    state.drifts = afterTurn(state.drifts, { meterIds, minutes, groups, sinceMs }, found);
  } catch (error) {
    shrink(state, lastId);
    throw error;
  }
  adapt(state, groups[1] - groups[0], performance.now() - startedAt);
  return advance(state, groups[1], lastId);
}

/**
 * Recounts the next parts from the stored events, for some seconds or until all meters have been
 * recounted. When a turn fails, the next one is smaller; one meter that fails by itself is left out
 * until the next round, so that the others do not wait for it.
 * @returns whether all meters have been recounted. @throws DependencyError.
 */
export async function recountForAWhile(
  engines: Engines,
  state: RecountState,
  now: InstantMs,
): Promise<boolean> {
  const deadline = performance.now() + MINUTE_BUDGET_MS;
  for (;;) {
    const isRoundOver = await takeTurn(engines, state, now);
    if (isRoundOver || performance.now() > deadline) return isRoundOver;
  }
}
