import { HOUR_MS, MINUTE_MS, type InstantMs, type Interval } from '../../contract/instant.js';
import {
  windowAt,
  windowCountAtLeast,
  windowsIn,
  type WindowGrid,
  type WindowSize,
} from '../domain/calendar/usage-windows.js';
import { readCheckpoints } from '../usage/watermark/checkpoints.js';
import type { ReadDataUntil } from '../usage/watermark/data-until.js';
import type { CountEventSlots } from './event-slots.js';
import type { PendingLog } from './pending-log.js';
import type { Occasion } from '../records/occasion.js';
import { readUnit, type ReadDependencies } from '../records/unit.js';
import { MemberReader } from '../records/member-rules.js';
import { accept, isRefusal, type Refusal } from '../records/refusal.js';
import { readRange } from '../records/time-range.js';

/** A month of minutes, as of usage windows. */
const POINTS_MAX = 44_640;

export type MonitoringRequest = {
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
  readonly window_size?: WindowSize | undefined;
};

export type EventMonitoring = {
  readonly total: number;
  /** Records of the log, of all environments, that are not finished. */
  readonly lagRecords: number;
  readonly visibleUntil: InstantMs | null;
  readonly points: readonly { readonly startMs: InstantMs; readonly count: number }[];
};

export type MonitoringDependencies = ReadDependencies & {
  readonly dataUntil: ReadDataUntil;
  readonly pendingLog: PendingLog;
  readonly countEventSlots: CountEventSlots;
};

/** Which stored events are counted, and by which windows. */
type MonitoringQuery = { readonly window: Interval; readonly grid: WindowGrid };

/** Reads a request; refuses a range without an end of its own and one with too many windows. */
function monitoringQueryFrom(
  request: MonitoringRequest,
  now: InstantMs,
): MonitoringQuery | Refusal {
  const reader = new MemberReader();
  const window = readRange(reader, request, { now, days: 1 });
  for (const [member, other] of [
    ['start_time', 'end_time'],
    ['end_time', 'start_time'],
  ] as const) {
    const isAlone = request[member] === undefined && request[other] !== undefined;
    if (isAlone) reader.note(member, `is required with ${other}`);
  }
  const size = request.window_size ?? 'HOUR';
  if (windowCountAtLeast(window, size) > POINTS_MAX) {
    reader.note('window_size', `the range has more than ${POINTS_MAX} windows; take larger ones`);
  }
  return reader.refusal() ?? { window, grid: { size, timezone: 'UTC', anchorMs: null } };
}

/** A width of which every boundary of a window in UTC is a multiple. */
function slotWidthOf(size: WindowSize): number {
  if (size === 'MINUTE') return MINUTE_MS;
  return size === '15MIN' || size === '30MIN' ? 15 * MINUTE_MS : HOUR_MS;
}

/** GET /events/monitoring: stored events by their own time, and how far the numbers reach. */
export async function readEventMonitoring(
  dependencies: MonitoringDependencies,
  occasion: Occasion,
  request: MonitoringRequest,
): Promise<EventMonitoring | Refusal> {
  const query = await readUnit(dependencies, occasion, ({ now }) =>
    Promise.resolve(accept(monitoringQueryFrom(request, now))),
  );
  if (isRefusal(query)) return query;
  const { window, grid } = query;
  const visibleUntil = await dependencies.dataUntil();
  const checkpoints = await readCheckpoints(dependencies.database);
  const [lagRecords, slots] = await Promise.all([
    dependencies.pendingLog.lag(checkpoints),
    dependencies.countEventSlots(occasion.environment, { window, slotMs: slotWidthOf(grid.size) }),
  ]);
  const counts = new Map<InstantMs, number>();
  for (const { startMs } of windowsIn(window, grid)) counts.set(startMs, 0);
  for (const { slotMs, count } of slots) {
    const { startMs } = windowAt(slotMs, grid);
    counts.set(startMs, (counts.get(startMs) ?? 0) + count);
  }
  const points = [...counts].map(([startMs, count]) => ({ startMs, count }));
  const total = slots.reduce((sum, { count }) => sum + count, 0);
  return { total, lagRecords, visibleUntil, points };
}
