import type { LinePlace } from './invoice.js';

/** Tells the lines of a period apart. */
export const placeOf = ({ kind, lineItemId, childId, startMs }: LinePlace): string =>
  JSON.stringify([kind, lineItemId, childId, startMs]);
