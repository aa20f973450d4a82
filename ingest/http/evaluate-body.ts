import type { Environment } from '../../contract/environment.js';
import type { InstantMs } from '../../contract/instant.js';
import type { UsageEvent } from '../../contract/usage-event.js';
import type { AcceptContext, EventOutcome } from '../accept/accept-event.js';
import { acceptBulk, acceptSingle } from '../accept/accept-request.js';
import { readJson } from '../accept/read-json.js';
import { recordsOfEvents, type PartitionRecord } from '../../contract/records-of-events.js';
import { problemMessage } from '../accept/event-problem.js';
import { acceptedAnswer, errorAnswer, problemAnswer, type Answer } from './answer.js';
import { derivedEventId } from './event-ids.js';
import type { EventPath } from './event-route.js';

/** What is needed to evaluate a body besides its text. */
export type EvaluationContext = {
  readonly environment: Environment;
  readonly receivedAtMs: InstantMs;
  readonly partitionCount: number;
  readonly idempotencyKey: string | null;
  readonly createEventId: (now: InstantMs) => string;
  readonly path: EventPath;
  /** Whether one invalid event rejects a whole bulk request (docs/http.md 10.1). */
  readonly isAtomic: boolean;
};

/**
 * The records to append, and the answer to send once they are durable. Without records it can be
 * sent at once.
 */
export type BodyEvaluation = {
  readonly records: readonly PartitionRecord[];
  readonly answer: Answer;
};

function rejectedWith(answer: Answer): BodyEvaluation {
  return { records: [], answer };
}

function evaluateSingle(outcome: EventOutcome, context: EvaluationContext): BodyEvaluation {
  if (outcome.kind === 'rejected') return rejectedWith(problemAnswer(outcome.problem));
  const { event } = outcome;
  const content = { message: 'event accepted', event_id: event.eventId };
  return {
    records: recordsOfEvents([event], context),
    answer: acceptedAnswer({ content, acceptedEvents: 1, rejectedEvents: 0 }),
  };
}

type BulkItem = {
  readonly event_id: string | null;
  readonly status: 'accepted' | 'rejected';
  readonly code: string | null;
  readonly message: string | null;
};

function bulkItem(outcome: EventOutcome): BulkItem {
  if (outcome.kind === 'accepted') {
    return { event_id: outcome.event.eventId, status: 'accepted', code: null, message: null };
  }
  const message = problemMessage(outcome.problem);
  return { event_id: outcome.eventId, status: 'rejected', code: 'validation_error', message };
}

/** 400 for `atomic=true`; the details name each invalid event by its index. */
function atomicProblem(outcomes: readonly EventOutcome[]): Answer {
  const details: Record<string, string> = {};
  outcomes.forEach((outcome, index) => {
    if (outcome.kind === 'rejected') details[`events[${index}]`] = problemMessage(outcome.problem);
  });
  const invalid = Object.keys(details).length;
  const message = `${invalid} of ${outcomes.length} events are invalid, so none was stored: see details`;
  const answer = errorAnswer({ status: 400, code: 'validation_error', message, details });
  return { ...answer, rejectedEvents: outcomes.length };
}

function evaluateBulk(
  outcomes: readonly EventOutcome[],
  context: EvaluationContext,
): BodyEvaluation {
  const events: UsageEvent[] = [];
  for (const outcome of outcomes) if (outcome.kind === 'accepted') events.push(outcome.event);
  const acceptedEvents = events.length;
  const rejectedEvents = outcomes.length - acceptedEvents;
  if (context.isAtomic && rejectedEvents > 0) return rejectedWith(atomicProblem(outcomes));
  const message = `${acceptedEvents} of ${outcomes.length} events accepted`;
  const content = { message, items: outcomes.map(bulkItem) };
  return {
    records: recordsOfEvents(events, context),
    answer: acceptedAnswer({ content, acceptedEvents, rejectedEvents }),
  };
}

function acceptContext(context: EvaluationContext): AcceptContext {
  const { receivedAtMs, idempotencyKey, environment } = context;
  const eventIdAt = (position: number): string =>
    idempotencyKey === null
      ? context.createEventId(receivedAtMs)
      : derivedEventId({ environment, idempotencyKey }, position);
  return { receivedAtMs, eventIdAt };
}

/** Decides which events of a request body are accepted. */
export function evaluateBody(text: string, context: EvaluationContext): BodyEvaluation {
  const document = readJson(text);
  if ('problem' in document) return rejectedWith(problemAnswer(document));
  if (context.path === '/v1/events') {
    return evaluateSingle(acceptSingle(document, acceptContext(context)), context);
  }
  const bulk = acceptBulk(document, acceptContext(context));
  return bulk.kind === 'rejected'
    ? rejectedWith(problemAnswer(bulk.problem))
    : evaluateBulk(bulk.outcomes, context);
}
