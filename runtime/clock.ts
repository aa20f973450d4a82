import type { InstantMs } from '../contract/instant.js';

/** Tells the current time to code that does I/O; pure code gets the time as an argument. */
export type Clock = { readonly now: () => InstantMs };

export const systemClock: Clock = { now: () => Date.now() };
