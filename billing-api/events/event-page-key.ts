import type { InstantMs } from '../../contract/instant.js';

/** What the key of a page names: the event at its edge. */
export type EventPageKey = { readonly timestampMs: InstantMs; readonly eventId: string };

/** Unix time in nanoseconds, two colons, the id of the event, which may hold anything. */
const KEY = /^(0|[1-9]\d{0,13})(\d{6})::([\s\S]+)$/;
const KEY_AT_ZERO = /^0::([\s\S]+)$/;

/** `<unix nanoseconds>::<id>`; events are timed in milliseconds, so six zeros end the number. */
export function formatEventPageKey({ timestampMs, eventId }: EventPageKey): string {
  const nanoseconds = timestampMs === 0 ? '0' : `${timestampMs}000000`;
  return `${nanoseconds}::${eventId}`;
}

/** Reads the key of an earlier answer; null for a text that no answer ever held. */
export function readEventPageKey(text: string): EventPageKey | null {
  const atZero = KEY_AT_ZERO.exec(text)?.[1];
  if (atZero !== undefined) return { timestampMs: 0, eventId: atZero };
  const [, milliseconds, rest, eventId] = KEY.exec(text) ?? [];
  if (milliseconds === undefined || eventId === undefined || rest !== '000000') return null;
  return { timestampMs: Number(milliseconds), eventId };
}
