import { isObject } from '../../contract/is-object.js';
import type { JsonDocument } from './read-json.js';

/** One event of a request, before it is checked. */
export type EventSource = {
  readonly document: JsonDocument;
  readonly value: unknown;
  readonly position: number;
  /** Whether the event is `events[position]` of its document, or the document itself. */
  readonly isInBulk: boolean;
};

/** The list under `events`; empty when there is none. */
export function eventsOf(envelope: unknown): readonly unknown[] {
  const events: unknown = isObject(envelope) ? envelope['events'] : null;
  return Array.isArray(events) ? (events as readonly unknown[]) : [];
}

/**
 * The event as `JSON.parse` alone reads it, with every number a number. The first call for a
 * document parses its text once more.
 */
export function plainEventOf(source: EventSource): Readonly<Record<string, unknown>> {
  const whole = source.document.plainValue();
  const event = source.isInBulk ? eventsOf(whole)[source.position] : whole;
  return isObject(event) ? event : {};
}
