import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { BodyLease } from '../../runtime/http/body-budget.js';
import { readBody, type BodyOutcome } from '../../runtime/http/read-body.js';
import { StallWatch } from '../../runtime/http/stall-watch.js';
import { errorAnswer, problemAnswer, unavailableAnswer, type Answer } from './answer.js';

/** The largest body of the event routes, inflated as well as on the wire (docs/http.md 1.7). */
export const BODY_BYTES_MAX = 32 * 1024 * 1024;

/** One for the process: it only has a timer while it watches a body. */
const stalls = new StallWatch();

export const TOO_LARGE = errorAnswer({
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
export function textOfBody(body: BodyOutcome): string | Answer | null {
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

/** Begins to read in the turn of the caller, and makes no promise beside the one of `readBody`. */
export function readEventsBody(
  request: IncomingMessage,
  isGzip: boolean,
  lease: BodyLease,
): Promise<BodyOutcome> {
  return readBody(request, { isGzip, lease, stalls, bytesMax: BODY_BYTES_MAX });
}
