import { problemMessage, type EventProblem } from '../accept/event-problem.js';

/** The error codes of the event routes (docs/http.md 1.5). */
export type ErrorCode =
  | 'validation_error'
  | 'permission_denied'
  | 'not_found'
  | 'invalid_operation'
  | 'too_many_requests'
  | 'service_unavailable'
  | 'internal_error';

/** What is sent to the client and counted in the metrics. */
export type Answer = {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  readonly code: ErrorCode | null;
  readonly retryAfterSeconds: number | null;
  readonly acceptedEvents: number;
  /** 1 for a request that is rejected as a whole, since its events may be unknown. */
  readonly rejectedEvents: number;
  /** Whether the connection is closed, because the rest of the request will not come. */
  readonly closesConnection?: true;
};

export type ErrorFacts = {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** Problems by member (docs/http.md 1.5). */
  readonly details?: Readonly<Record<string, string>>;
  readonly retryAfterSeconds?: number;
};

/** An error answer. The message goes to the client, so it must not name anything internal. */
export function errorAnswer(facts: ErrorFacts): Answer {
  const { status, code, message, details, retryAfterSeconds } = facts;
  const body = JSON.stringify({ code, http_status_code: status, message, details });
  return {
    status,
    body,
    code,
    retryAfterSeconds: retryAfterSeconds ?? null,
    acceptedEvents: 0,
    rejectedEvents: 1,
  };
}

/** 400 for an invalid request. */
export function problemAnswer(problem: EventProblem): Answer {
  return errorAnswer({
    status: 400,
    code: 'validation_error',
    message: problemMessage(problem),
    details: { [problem.member]: problem.problem },
  });
}

/**
 * 503: no event was acknowledged. A retry is safe when the events have ids (docs/domain.md 7.1).
 */
export function unavailableAnswer(message: string): Answer {
  const code = 'service_unavailable';
  return errorAnswer({ status: 503, code, message, retryAfterSeconds: 1 });
}

export type AcceptedFacts = {
  readonly content: object;
  readonly acceptedEvents: number;
  readonly rejectedEvents: number;
};

/** 202. It may be sent only when every event that it calls accepted is durable in the log. */
export function acceptedAnswer(facts: AcceptedFacts): Answer {
  const { content, acceptedEvents, rejectedEvents } = facts;
  const body = JSON.stringify(content);
  return { status: 202, body, code: null, retryAfterSeconds: null, acceptedEvents, rejectedEvents };
}
