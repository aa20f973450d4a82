import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Environment } from '../../contract/environment.js';
import type { InstantMs } from '../../contract/instant.js';
import type { UsageEvent } from '../../contract/usage-event.js';
import type { Clock } from '../../runtime/clock.js';
import type { AcceptContext, EventOutcome } from '../accept/accept-event.js';
import { acceptBulk, acceptSingle } from '../accept/accept-request.js';
import { readJson, type JsonDocument } from '../accept/read-json.js';
import { recordsOfEvents } from '../accept/records-of-events.js';
import { refusalMessage } from '../accept/refusal.js';
import {
  acceptedAnswer,
  errorAnswer,
  refusalAnswer,
  unavailableAnswer,
  type Answer,
} from './answer.js';
import type { BodyLease } from './body-budget.js';
import { derivedEventId } from './event-ids.js';
import { atomicOf, type EventRoute } from './event-route.js';
import { produce, type Producing } from './produce.js';
import { BODY_BYTES_MAX, discardBody, readBody, type BodyOutcome } from './read-body.js';
import { contentLengthOf, requestFormOf, type RequestForm } from './read-headers.js';

export type Answering = Producing & {
  readonly clock: Clock;
  readonly createEventId: (now: InstantMs) => string;
};

/** One admitted request. */
export type EventCall = {
  readonly request: IncomingMessage;
  readonly route: EventRoute;
  readonly environment: Environment;
  readonly lease: BodyLease;
  /** Tells a client that waits for `100 Continue` to send its body. */
  readonly askForBody: () => void;
};

const TOO_LARGE = errorAnswer({
  status: 413,
  code: 'validation_error',
  message: `the body is larger than ${BODY_BYTES_MAX} bytes: send fewer events in one request`,
});

const NO_ROOM = unavailableAnswer('too many request bodies are being read: repeat in a second');

function bodyProblem(problem: string): Answer {
  return refusalAnswer({ member: 'body', problem });
}

/** The text of a body, or the answer when there is none. Null: the client has gone. */
function textOf(body: BodyOutcome): string | Answer | null {
  switch (body.kind) {
    case 'gone':
      return null;
    case 'too_large':
      return TOO_LARGE;
    case 'no_room':
      return NO_ROOM;
    case 'corrupt_gzip':
      return bodyProblem('is not gzip: send it as Content-Encoding says');
    case 'body':
      if (body.bytes.length === 0) return bodyProblem('is empty: send JSON');
      return isUtf8(body.bytes) ? body.bytes.toString() : bodyProblem('is not UTF-8: encode it so');
  }
}

type Append = (events: readonly UsageEvent[]) => Promise<void>;

async function singleAnswer(outcome: EventOutcome, append: Append): Promise<Answer> {
  if (outcome.kind === 'refused') return refusalAnswer(outcome.refusal);
  await append([outcome.event]);
  const content = { message: 'event accepted', event_id: outcome.event.eventId };
  return acceptedAnswer({ content, acceptedEvents: 1, refusedEvents: 0 });
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
  return errorAnswer({ status: 400, code: 'validation_error', message, details });
}

async function bulkAnswer(
  outcomes: readonly EventOutcome[],
  append: Append,
  isAtomic: boolean,
): Promise<Answer> {
  const events = outcomes.flatMap((one) => (one.kind === 'accepted' ? [one.event] : []));
  const acceptedEvents = events.length;
  const refusedEvents = outcomes.length - acceptedEvents;
  if (isAtomic && refusedEvents > 0) return atomicRefusal(outcomes);
  if (acceptedEvents > 0) await append(events);
  const message = `${acceptedEvents} of ${outcomes.length} events accepted`;
  const content = { message, items: outcomes.map(bulkItem) };
  return acceptedAnswer({ content, acceptedEvents, refusedEvents });
}

function judgeContext(call: EventCall, form: RequestForm, answering: Answering): AcceptContext {
  const receivedAtMs = answering.clock.now();
  const { idempotencyKey } = form;
  const { environment } = call;
  const eventIdAt = (position: number): string =>
    idempotencyKey === null
      ? answering.createEventId(receivedAtMs)
      : derivedEventId({ environment, idempotencyKey }, position);
  return { receivedAtMs, eventIdAt };
}

type Judging = { readonly form: RequestForm; readonly isAtomic: boolean };

async function answerDocument(
  document: JsonDocument,
  call: EventCall,
  { answering, judging }: { readonly answering: Answering; readonly judging: Judging },
): Promise<Answer> {
  const context = judgeContext(call, judging.form, answering);
  const { receivedAtMs } = context;
  const { environment } = call;
  const { partitionCount } = answering.writer.identity;
  const append = async (events: readonly UsageEvent[]): Promise<void> => {
    const records = recordsOfEvents(events, { environment, receivedAtMs, partitionCount });
    await produce(records, call.lease, answering);
  };
  if (call.route.path === '/v1/events') {
    return singleAnswer(acceptSingle(document, context), append);
  }
  const bulk = acceptBulk(document, context);
  if (bulk.kind === 'refused') return refusalAnswer(bulk.refusal);
  return bulkAnswer(bulk.outcomes, append, judging.isAtomic);
}

/** What the request line and the headers say, or the answer when they cannot be used. */
function judgingOf(call: EventCall): Judging | Answer {
  const form = requestFormOf(call.request);
  if ('problem' in form) return refusalAnswer(form);
  const isAtomic = atomicOf(call.route.query);
  if (typeof isAtomic !== 'boolean') return refusalAnswer(isAtomic);
  const length = contentLengthOf(call.request);
  return length !== null && length > BODY_BYTES_MAX ? TOO_LARGE : { form, isAtomic };
}

/**
 * Reads, judges and stores the events of one admitted request (api.md 10.1). Null when the client
 * has left before its body was complete.
 * @throws DependencyError when the log did not confirm them in time.
 */
export async function answerEvents(call: EventCall, answering: Answering): Promise<Answer | null> {
  const judging = judgingOf(call);
  if ('status' in judging) {
    discardBody(call.request);
    return judging;
  }
  call.askForBody();
  const body = await readBody(call.request, { isGzip: judging.form.isGzip, lease: call.lease });
  const text = textOf(body);
  if (typeof text !== 'string') return text;
  const document = readJson(text);
  if ('problem' in document) return refusalAnswer(document);
  return answerDocument(document, call, { answering, judging });
}
