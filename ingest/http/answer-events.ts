import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Environment } from '../../contract/environment.js';
import type { InstantMs } from '../../contract/instant.js';
import type { Clock } from '../../runtime/clock.js';
import type { BodyLease } from '../../runtime/http/body-budget.js';
import { discardBody, readBody, type BodyOutcome } from '../../runtime/http/read-body.js';
import type { StallWatch } from '../../runtime/http/stall-watch.js';
import { errorAnswer, problemAnswer, unavailableAnswer, type Answer } from './answer.js';
import { atomicOf, type EventRoute } from './event-route.js';
import { evaluateBody } from './evaluate-body.js';
import type { Produce } from './produce.js';
import { contentLengthOf, requestFormOf, type RequestForm } from './read-headers.js';

/** The largest body of the event routes, inflated as well as on the wire (docs/http.md 1.7). */
export const BODY_BYTES_MAX = 32 * 1024 * 1024;

export type AnswerDependencies = {
  readonly produce: Produce;
  /** The number of partitions of the log, which was fixed when the log was created. */
  readonly partitionCount: number;
  readonly clock: Clock;
  readonly createEventId: (now: InstantMs) => string;
  readonly stalls: StallWatch;
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

const NO_ROOM = unavailableAnswer(
  'too many request bodies of this environment are being read: retry in a second',
);

const STALLED: Answer = {
  ...errorAnswer({
    status: 408,
    code: 'validation_error',
    message: 'less than 8 KiB of the body arrived in 5 seconds: send it again, faster',
  }),
  closesConnection: true,
};

function bodyProblem(problem: string): Answer {
  return problemAnswer({ member: 'body', problem });
}

/** The text of a body, or the answer when it cannot be read. Null when the client has left. */
function textOf(body: BodyOutcome): string | Answer | null {
  switch (body.kind) {
    case 'gone':
      return null;
    case 'too_large':
      return TOO_LARGE;
    case 'no_room':
      return NO_ROOM;
    case 'stalled':
      return STALLED;
    case 'corrupt_gzip':
      return bodyProblem('is not valid gzip, although Content-Encoding says so: compress it');
    case 'body':
      if (body.bytes.length === 0) return bodyProblem('is empty: send JSON');
      return isUtf8(body.bytes) ? body.bytes.toString() : bodyProblem('is not valid UTF-8');
  }
}

type RequestTerms = { readonly form: RequestForm; readonly isAtomic: boolean };

/** What the request line and the headers say, or the answer when they are invalid. */
function readTerms({ request, route }: EventCall): RequestTerms | Answer {
  const form = requestFormOf(request);
  if ('problem' in form) return problemAnswer(form);
  const isAtomic = atomicOf(route.query);
  if (typeof isAtomic !== 'boolean') return problemAnswer(isAtomic);
  const length = contentLengthOf(request);
  return length !== null && length > BODY_BYTES_MAX ? TOO_LARGE : { form, isAtomic };
}

/**
 * Reads, checks and stores the events of one admitted request (docs/http.md 10.1). Null when the
 * client left before its body was complete.
 * @throws DependencyError when the log did not acknowledge the events in time.
 */
export async function answerEvents(
  call: EventCall,
  dependencies: AnswerDependencies,
): Promise<Answer | null> {
  const terms = readTerms(call);
  if ('status' in terms) {
    discardBody(call.request);
    return terms;
  }
  call.askForBody();
  const { isGzip, idempotencyKey } = terms.form;
  const { stalls } = dependencies;
  const bodyOptions = { isGzip, stalls, lease: call.lease, bytesMax: BODY_BYTES_MAX };
  const text = textOf(await readBody(call.request, bodyOptions));
  if (typeof text !== 'string') return text;
  const { records, answer } = evaluateBody(text, {
    environment: call.environment,
    receivedAtMs: dependencies.clock.now(),
    partitionCount: dependencies.partitionCount,
    idempotencyKey,
    createEventId: dependencies.createEventId,
    path: call.route.path,
    isAtomic: terms.isAtomic,
  });
  if (records.length > 0) await dependencies.produce(records, call.lease);
  return answer;
}
