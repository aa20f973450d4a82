import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Environment } from '../../contract/environment.js';
import type { InstantMs } from '../../contract/instant.js';
import type { Clock } from '../../runtime/clock.js';
import { errorAnswer, refusalAnswer, unavailableAnswer, type Answer } from './answer.js';
import type { BodyLease } from './body-budget.js';
import { atomicOf, type EventRoute } from './event-route.js';
import { judgeBody } from './judge-body.js';
import type { Produce } from './produce.js';
import { BODY_BYTES_MAX, discardBody, readBody, type BodyOutcome } from './read-body.js';
import { contentLengthOf, requestFormOf, type RequestForm } from './read-headers.js';

export type Answering = {
  readonly produce: Produce;
  /** Of the log; fixed when it was created. */
  readonly partitionCount: number;
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

type Asked = { readonly form: RequestForm; readonly isAtomic: boolean };

/** What the request line and the headers ask for, or the answer when they cannot be used. */
function askedOf({ request, route }: EventCall): Asked | Answer {
  const form = requestFormOf(request);
  if ('problem' in form) return refusalAnswer(form);
  const isAtomic = atomicOf(route.query);
  if (typeof isAtomic !== 'boolean') return refusalAnswer(isAtomic);
  const length = contentLengthOf(request);
  return length !== null && length > BODY_BYTES_MAX ? TOO_LARGE : { form, isAtomic };
}

/**
 * Reads, judges and stores the events of one admitted request (api.md 10.1). Null when the client
 * has left before its body was complete.
 * @throws DependencyError when the log did not confirm them in time.
 */
export async function answerEvents(call: EventCall, answering: Answering): Promise<Answer | null> {
  const asked = askedOf(call);
  if ('status' in asked) {
    discardBody(call.request);
    return asked;
  }
  call.askForBody();
  const { isGzip, idempotencyKey } = asked.form;
  const text = textOf(await readBody(call.request, { isGzip, lease: call.lease }));
  if (typeof text !== 'string') return text;
  const { records, answer } = judgeBody(text, {
    environment: call.environment,
    receivedAtMs: answering.clock.now(),
    partitionCount: answering.partitionCount,
    idempotencyKey,
    createEventId: answering.createEventId,
    path: call.route.path,
    isAtomic: asked.isAtomic,
  });
  if (records.length > 0) await answering.produce(records, call.lease);
  return answer;
}
