import { DAY_MS, type InstantMs } from '../../../contract/instant.js';

/** When a subscription is to pause, and for how long (docs/domain.md 26). */
export type PauseRequest = {
  readonly mode: 'immediate' | 'scheduled' | 'period_end';
  /** Null when none is given; so are the next two. */
  readonly startMs: InstantMs | null;
  readonly endMs: InstantMs | null;
  readonly days: number | null;
};

/** The time of a pause; its end is null until somebody resumes it. */
export type PauseDates =
  | { readonly startMs: InstantMs; readonly endMs: InstantMs | null; readonly problem: null }
  | { readonly problem: { readonly member: string; readonly text: string } };

const wrong = (member: string, text: string): PauseDates => ({ problem: { member, text } });

function startOf(
  { mode, startMs }: PauseRequest,
  { now, currentEndMs }: { readonly now: InstantMs; readonly currentEndMs: InstantMs },
): InstantMs | string {
  if (mode === 'scheduled') {
    return startMs === null || startMs <= now ? 'must be given, and in the future' : startMs;
  }
  if (startMs !== null) return `must be left out with pause_mode ${mode}`;
  return mode === 'immediate' ? now : currentEndMs;
}

/** The time for which a subscription is to pause. */
export function pauseDates(
  request: PauseRequest,
  at: { readonly now: InstantMs; readonly currentEndMs: InstantMs },
): PauseDates {
  const startMs = startOf(request, at);
  if (typeof startMs === 'string') return wrong('pause_start', startMs);
  const { endMs, days } = request;
  if (days !== null && endMs !== null) return wrong('pause_days', 'cannot go with pause_end');
  if (days !== null) return { startMs, endMs: startMs + days * DAY_MS, problem: null };
  if (endMs !== null && endMs <= startMs) return wrong('pause_end', 'must be later than its start');
  return { startMs, endMs, problem: null };
}
