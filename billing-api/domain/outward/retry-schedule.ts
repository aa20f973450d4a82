import { MINUTE_MS, type InstantMs } from '../../../contract/instant.js';

/** Pauses after the first attempt and after each that follows (docs/http.md 11.2). */
const PAUSES_MS = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  120 * MINUTE_MS,
  5 * 60 * MINUTE_MS,
  10 * 60 * MINUTE_MS,
  14 * 60 * MINUTE_MS,
  20 * 60 * MINUTE_MS,
  24 * 60 * MINUTE_MS,
] as const;

/** Each pause is up to a tenth longer, so that not everybody comes back at once. */
const JITTER = 0.1;

/**
 * When the next attempt follows after so many; null when none does.
 * @param random from 0 to 1
 */
export function nextAttempt(attempts: number, now: InstantMs, random: number): InstantMs | null {
  const pause = PAUSES_MS[attempts - 1];
  return pause === undefined ? null : now + Math.round(pause * (1 + JITTER * random));
}
