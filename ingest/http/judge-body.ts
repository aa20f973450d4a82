import type { Environment } from '../../contract/environment.js';
import type { InstantMs } from '../../contract/instant.js';
import type { UsageEvent } from '../../contract/usage-event.js';
import type { AcceptContext, EventOutcome } from '../accept/accept-event.js';
import { acceptBulk, acceptSingle } from '../accept/accept-request.js';
import { readJson } from '../accept/read-json.js';
import { recordsOfEvents, type PartitionRecord } from '../../contract/records-of-events.js';
import { refusalMessage } from '../accept/refusal.js';
import { acceptedAnswer, errorAnswer, refusalAnswer, type Answer } from './answer.js';
import { derivedEventId } from './event-ids.js';
import type { EventPath } from './event-route.js';

/** What a body is judged by. */
export type JudgeContext = {
  readonly environment: Environment;
  readonly receivedAtMs: InstantMs;
  readonly partitionCount: number;
  readonly idempotencyKey: string | null;
  readonly createEventId: (now: InstantMs) => string;
  readonly path: EventPath;
  /** Bulk only: whether one invalid event refuses all (api.md 10.1). */
  readonly isAtomic: boolean;
};

/** What is to be stored, and the answer that may be sent once it is; without records at once. */
export type Judgement = { readonly records: readonly PartitionRecord[]; readonly answer: Answer };

function refusedAs(answer: Answer): Judgement {
  return { records: [], answer };
}

function judgeSingle(outcome: EventOutcome, context: JudgeContext): Judgement {
  if (outcome.kind === 'refused') return refusedAs(refusalAnswer(outcome.refusal));
  const { event } = outcome;
  const content = { message: 'event accepted', event_id: event.eventId };
  return {
    records: recordsOfEvents([event], context),
    answer: acceptedAnswer({ content, acceptedEvents: 1, refusedEvents: 0 }),
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
  const message = refusalMessage(outcome.refusal);
  return { event_id: outcome.eventId, status: 'rejected', code: 'validation_error', message };
}

/** 400 of `atomic=true`: the details name each invalid event by its index. */
function atomicRefusal(outcomes: readonly EventOutcome[]): Answer {
  const details: Record<string, string> = {};
  outcomes.forEach((outcome, index) => {
    if (outcome.kind === 'refused') details[`events[${index}]`] = refusalMessage(outcome.refusal);
  });
  const invalid = Object.keys(details).length;
  const message = `${invalid} of ${outcomes.length} events are invalid and none was stored: see details`;
  const answer = errorAnswer({ status: 400, code: 'validation_error', message, details });
  return { ...answer, refusedEvents: outcomes.length };
}

function judgeBulk(outcomes: readonly EventOutcome[], context: JudgeContext): Judgement {
  const events: UsageEvent[] = [];
  for (const outcome of outcomes) if (outcome.kind === 'accepted') events.push(outcome.event);
  const acceptedEvents = events.length;
  const refusedEvents = outcomes.length - acceptedEvents;
  if (context.isAtomic && refusedEvents > 0) return refusedAs(atomicRefusal(outcomes));
  const message = `${acceptedEvents} of ${outcomes.length} events accepted`;
  const content = { message, items: outcomes.map(bulkItem) };
  return {
    records: recordsOfEvents(events, context),
    answer: acceptedAnswer({ content, acceptedEvents, refusedEvents }),
  };
}

function acceptContext(context: JudgeContext): AcceptContext {
  const { receivedAtMs, idempotencyKey, environment } = context;
  const eventIdAt = (position: number): string =>
    idempotencyKey === null
      ? context.createEventId(receivedAtMs)
      : derivedEventId({ environment, idempotencyKey }, position);
  return { receivedAtMs, eventIdAt };
}

/** Judges a request body: the records to append and the answer to give when they are durable. */
export function judgeBody(text: string, context: JudgeContext): Judgement {
  const document = readJson(text);
  if ('problem' in document) return refusedAs(refusalAnswer(document));
  if (context.path === '/v1/events') {
    return judgeSingle(acceptSingle(document, acceptContext(context)), context);
  }
  const bulk = acceptBulk(document, acceptContext(context));
  return bulk.kind === 'refused'
    ? refusedAs(refusalAnswer(bulk.refusal))
    : judgeBulk(bulk.outcomes, context);
}
