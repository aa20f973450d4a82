import type { InstantMs } from '../contract/instant.js';

/** The source of the current time for code that does I/O; pure code gets the time as an argument. */
export type Clock = { readonly now: () => InstantMs };

export const systemClock: Clock = { now: () => Date.now() };
