import { refusalMessage, type Refusal } from '../accept/refusal.js';

/** The codes of api.md 1.5 that the event routes can answer with. */
export type ErrorCode =
  | 'validation_error'
  | 'permission_denied'
  | 'not_found'
  | 'invalid_operation'
  | 'too_many_requests'
  | 'service_unavailable'
  | 'internal_error';

/** What is sent back, and what the metrics are told. */
export type Answer = {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  readonly code: ErrorCode | null;
  readonly retryAfterSeconds: number | null;
  readonly acceptedEvents: number;
  /** A request that is refused as a whole counts once, since its events may not be known. */
  readonly refusedEvents: number;
};

export type ErrorFacts = {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** Member to problem (api.md 1.5). */
  readonly details?: Readonly<Record<string, string>>;
  readonly retryAfterSeconds?: number;
};

/** An error answer; `message` may be shown to anybody. */
export function errorAnswer(facts: ErrorFacts): Answer {
  const { status, code, message, details, retryAfterSeconds } = facts;
  const body = JSON.stringify({ code, http_status_code: status, message, details });
  return {
    status,
    body,
    code,
    retryAfterSeconds: retryAfterSeconds ?? null,
    acceptedEvents: 0,
    refusedEvents: 1,
  };
}

/** 400 for a request whose content is refused. */
export function refusalAnswer(refusal: Refusal): Answer {
  return errorAnswer({
    status: 400,
    code: 'validation_error',
    message: refusalMessage(refusal),
    details: { [refusal.member]: refusal.problem },
  });
}

/** 503: nothing was answered for, repeating is safe when the events have ids (domain.md 7.1). */
export function unavailableAnswer(message: string): Answer {
  const code = 'service_unavailable';
  return errorAnswer({ status: 503, code, message, retryAfterSeconds: 1 });
}

export type AcceptedFacts = {
  readonly content: object;
  readonly acceptedEvents: number;
  readonly refusedEvents: number;
};

/** 202: every event counted as accepted is durable. */
export function acceptedAnswer(facts: AcceptedFacts): Answer {
  const { content, acceptedEvents, refusedEvents } = facts;
  const body = JSON.stringify(content);
  return { status: 202, body, code: null, retryAfterSeconds: null, acceptedEvents, refusedEvents };
}
