import { Cron } from 'croner';
import type { InstantMs } from '../../contract/instant.js';
import { assertPresent, assertThat } from '../../runtime/failure.js';

/** When a job falls due again and again. */
export type Schedule =
  /** At every whole multiple of the interval since 1970, and when it is first declared. */
  | { readonly everyMs: number }
  /**
   * By a cron pattern ("0 2 * * *") on the clock of a time zone. A time of day in the hour that is
   * left out when clocks go forward is due at the instant after it; one in the hour that comes
   * twice when they go back is due once, the first time. What is due every hour is due in each.
   */
  | { readonly cron: string; readonly timeZone: string };

/** A schedule as it is stored; equal texts are equal schedules. */
export function scheduleText(schedule: Schedule): string {
  return 'everyMs' in schedule
    ? `every ${schedule.everyMs} ms`
    : `${schedule.cron} ${schedule.timeZone}`;
}

/** The first instant after this one at which a job with this schedule is due. */
export function nextDue(schedule: Schedule, after: InstantMs): InstantMs {
  if ('everyMs' in schedule) {
    assertThat(schedule.everyMs > 0, 'the interval of a job must be positive');
    return (Math.floor(after / schedule.everyMs) + 1) * schedule.everyMs;
  }
  const { cron, timeZone } = schedule;
  const pattern = new Cron(cron, { timezone: timeZone, paused: true });
  return assertPresent(pattern.nextRun(new Date(after)), `the next instant of "${cron}"`).getTime();
}
