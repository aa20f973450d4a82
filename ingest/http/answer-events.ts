import type { IncomingMessage } from 'node:http';
import type { Environment } from '../../contract/environment.js';
import type { InstantMs } from '../../contract/instant.js';
import type { Clock } from '../../runtime/clock.js';
import type { BodyLease } from '../../runtime/http/body-budget.js';
import { discardBody } from '../../runtime/http/read-body.js';
import { problemAnswer, type Answer } from './answer.js';
import { BODY_BYTES_MAX, readEventsBody, textOfBody, TOO_LARGE } from './read-events-body.js';
import { atomicOf, type EventRoute } from './event-route.js';
import { evaluateBody } from './evaluate-body.js';
import type { Produce } from './produce.js';
import { contentLengthOf, requestFormOf, type RequestForm } from './read-headers.js';

export type AnswerDependencies = {
  readonly produce: Produce;
  /** The number of partitions of the log, which was fixed when the log was created. */
  readonly partitionCount: number;
  /** Dates events: nothing that is received later is dated before. */
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
 * Nothing is awaited from the instant of receipt until the records are held for the log, so that no
 * report of what is held comes between.
 */
async function acceptEvents(
  text: string,
  { call, terms }: { readonly call: EventCall; readonly terms: RequestTerms },
  { clock, partitionCount, createEventId, produce }: AnswerDependencies,
): Promise<Answer> {
  const receivedAtMs = clock.now();
  const { records, answer } = evaluateBody(text, {
    environment: call.environment,
    receivedAtMs,
    partitionCount,
    idempotencyKey: terms.form.idempotencyKey,
    createEventId,
    path: call.route.path,
    isAtomic: terms.isAtomic,
  });
  if (records.length > 0) await produce({ records, receivedAtMs }, call.lease);
  return answer;
}

/**
 * Reads, checks and stores the events of one admitted request (docs/http.md 10.1), and releases its
 * lease. Null when the client left before its body was complete.
 * @throws DependencyError when the log did not acknowledge the events in time.
 */
export async function answerEvents(
  call: EventCall,
  dependencies: AnswerDependencies,
): Promise<Answer | null> {
  const { request, lease } = call;
  try {
    const terms = readTerms(call);
    if ('status' in terms) {
      discardBody(request);
      return terms;
    }
    call.askForBody();
    const text = textOfBody(await readEventsBody(request, terms.form.isGzip, lease));
    if (typeof text !== 'string') return text;
    return await acceptEvents(text, { call, terms }, dependencies);
  } finally {
    lease.release();
  }
}
