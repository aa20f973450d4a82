import type { Response } from 'express';
import type { Refusal, RefusalCode } from '../records/refusal.js';
import { isRefusal } from '../records/refusal.js';
import type { ErrorDto } from '../records/record-dto.js';

/** What is missing is usually there within seconds; an earlier retry only adds load. */
const RETRY_AFTER_SECONDS = 2;

/** A request that is answered with an error body; thrown by the edge and caught by its handler. */
export class HttpFailure extends Error {
  constructor(
    readonly status: number,
    readonly code: ErrorDto['code'],
    readonly facts: {
      readonly message: string;
      readonly details?: Readonly<Record<string, string>> | null;
      readonly retryAfterSeconds?: number;
      /** Further headers of the answer. */
      readonly headers?: Readonly<Record<string, string>>;
    },
  ) {
    super(facts.message);
    this.name = 'HttpFailure';
  }
}

/** Status of each refusal (docs/http.md 1.5). */
function statusOf(code: RefusalCode): number {
  switch (code) {
    case 'validation_error':
    case 'invalid_operation':
      return 400;
    case 'permission_denied':
      return 403;
    case 'not_found':
      return 404;
    case 'already_exists':
    case 'version_conflict':
      return 409;
    case 'service_unavailable':
      return 503;
  }
}

export function failureOfRefusal(refusal: Refusal): HttpFailure {
  const { code, message, details } = refusal;
  const wait = code === 'service_unavailable' ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {};
  return new HttpFailure(statusOf(code), code, { message, details, ...wait });
}

/**
 * The value of an operation.
 * @throws HttpFailure when the operation was refused.
 */
export function accepted<T>(result: T | Refusal): T {
  if (isRefusal(result)) throw failureOfRefusal(result);
  return result;
}

/** Writes the error body (docs/http.md 1.5). */
export function sendFailure(response: Response, failure: HttpFailure): void {
  const { message, details, retryAfterSeconds, headers } = failure.facts;
  if (headers !== undefined) response.set(headers);
  if (retryAfterSeconds !== undefined) response.set('Retry-After', String(retryAfterSeconds));
  const body: ErrorDto = {
    code: failure.code,
    http_status_code: failure.status,
    message,
    ...(details === undefined || details === null ? {} : { details: { ...details } }),
  };
  response.status(failure.status).json(body);
}
