import { acceptEvent, type AcceptContext, type EventOutcome } from './accept-event.js';
import { eventsOf } from './event-source.js';
import { isObject } from '../../contract/is-object.js';
import { BULK_EVENTS_MAX } from '../../contract/records-of-events.js';
import type { JsonDocument } from './read-json.js';
import { shownName, type EventProblem } from './event-problem.js';

/** Checks the body of POST /events. */
export function acceptSingle(document: JsonDocument, context: AcceptContext): EventOutcome {
  const { value } = document;
  return acceptEvent({ document, value, position: 0, isInBulk: false }, context);
}

/** The outcome of every event in request order, or what is wrong with the envelope. */
export type BulkOutcome =
  | { readonly kind: 'evaluated'; readonly outcomes: readonly EventOutcome[] }
  | { readonly kind: 'rejected'; readonly problem: EventProblem };

function findEnvelopeProblem(envelope: unknown): EventProblem | null {
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

/** Checks the body of POST /events/bulk; an invalid event does not affect the others. */
export function acceptBulk(document: JsonDocument, context: AcceptContext): BulkOutcome {
  const problem = findEnvelopeProblem(document.value);
  if (problem !== null) return { kind: 'rejected', problem };
  const outcomes = eventsOf(document.value).map((value, position) =>
    acceptEvent({ document, value, position, isInBulk: true }, context),
  );
  return { kind: 'evaluated', outcomes };
}
