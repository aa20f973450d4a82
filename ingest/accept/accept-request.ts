import { acceptEvent, type AcceptContext, type EventOutcome } from './accept-event.js';
import { eventsOf } from './event-source.js';
import { isObject } from './is-object.js';
import type { JsonDocument } from './read-json.js';
import { shownName, type Refusal } from './refusal.js';

/** Events of one bulk request (api.md 1.7). */
export const BULK_EVENTS_MAX = 1000;

/** Judges the body of POST /events. */
export function acceptSingle(document: JsonDocument, context: AcceptContext): EventOutcome {
  const { value } = document;
  return acceptEvent({ document, value, position: 0, isInBulk: false }, context);
}

/** The outcome of every event in request order, or why the envelope itself cannot be used. */
export type BulkOutcome =
  | { readonly kind: 'judged'; readonly outcomes: readonly EventOutcome[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

function envelopeRefusal(envelope: unknown): Refusal | null {
  if (!isObject(envelope)) {
    return { member: 'body', problem: 'is not an object: send {"events": [...]}' };
  }
  const unknown = Object.keys(envelope).find((member) => member !== 'events');
  if (unknown !== undefined) {
    const problem = 'is not a member of a bulk request: send {"events": [...]}';
    return { member: shownName(unknown), problem };
  }
  const { events } = envelope;
  if (!Array.isArray(events)) {
    return {
      member: 'events',
      problem: `is required: send a list of 1 to ${BULK_EVENTS_MAX} events`,
    };
  }
  if (events.length >= 1 && events.length <= BULK_EVENTS_MAX) return null;
  const problem = `has ${events.length} events: send 1 to ${BULK_EVENTS_MAX}`;
  return { member: 'events', problem };
}

/** Judges the body of POST /events/bulk; every event on its own. */
export function acceptBulk(document: JsonDocument, context: AcceptContext): BulkOutcome {
  const refusal = envelopeRefusal(document.value);
  if (refusal !== null) return { kind: 'refused', refusal };
  const outcomes = eventsOf(document.value).map((value, position) =>
    acceptEvent({ document, value, position, isInBulk: true }, context),
  );
  return { kind: 'judged', outcomes };
}
