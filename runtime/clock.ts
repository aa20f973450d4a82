import type { InstantMs } from '../contract/instant.js';

/** Where shells read the time; pure code gets it as an argument. */
export type Clock = { readonly now: () => InstantMs };

export const systemClock: Clock = { now: () => Date.now() };
