import { MINUTE_MS, type InstantMs, type Interval } from '../../../contract/instant.js';

/** How often a task exports; each window has this length. */
export const EXPORT_INTERVALS = ['15MIN', '30MIN', 'hourly', 'daily'] as const;
export type ExportInterval = (typeof EXPORT_INTERVALS)[number];

const LENGTHS: Readonly<Record<ExportInterval, number>> = {
  '15MIN': 15 * MINUTE_MS,
  '30MIN': 30 * MINUTE_MS,
  hourly: 60 * MINUTE_MS,
  daily: 24 * 60 * MINUTE_MS,
};

/** How long after its end a window is exported, so that what was on its way has arrived. */
const DELAYS: Readonly<Record<ExportInterval, number>> = {
  '15MIN': 5 * MINUTE_MS,
  '30MIN': 5 * MINUTE_MS,
  hourly: 15 * MINUTE_MS,
  daily: 15 * MINUTE_MS,
};

/** What was missed longer ago is not made up (docs/domain.md 33.1). */
export const CATCH_UP_MS = 7 * 24 * 60 * MINUTE_MS;

/** The windows that are to be exported, oldest first. */
export function dueWindows(
  interval: ExportInterval,
  since: InstantMs,
  now: InstantMs,
): readonly Interval[] {
  const length = LENGTHS[interval];
  const endMax = Math.floor((now - DELAYS[interval]) / length) * length;
  const from = Math.max(since, now - CATCH_UP_MS);
  // The window in which the task was made is its first one.
  const first = Math.floor(from / length) * length;
  const count = Math.max(0, (endMax - first) / length);
  return Array.from({ length: count }, (_none, index) => ({
    startMs: first + index * length,
    endMs: first + (index + 1) * length,
  }));
}

/** The last window that has ended (docs/domain.md 33.2). */
export function lastClosedWindow(interval: ExportInterval, now: InstantMs): Interval {
  const length = LENGTHS[interval];
  const endMs = Math.floor(now / length) * length;
  return { startMs: endMs - length, endMs };
}

/** An instant as keys have it: YYMMDDHHMMSS, in UTC. */
function keyTime(instant: InstantMs): string {
  return new Date(instant).toISOString().replace(/\D/g, '').slice(2, 14);
}

/** Where the file of a window lies in its bucket (docs/domain.md 33.5). */
export function exportKey(
  { startMs, endMs }: Interval,
  file: { readonly prefix: string | null; readonly entityType: string; readonly isZipped: boolean },
): string {
  const { prefix, entityType, isZipped } = file;
  const name = `${entityType}-${keyTime(startMs)}-${keyTime(endMs)}.csv${isZipped ? '.gz' : ''}`;
  const path = prefix === null ? '' : prefix.replace(/^\/+|\/+$/g, '');
  return [...(path === '' ? [] : [path]), entityType, name].join('/');
}

/** Where the manifest of a file lies, beside it (docs/domain.md 33.7). */
export function manifestKey(key: string): string {
  return `${key}.manifest.json`;
}
