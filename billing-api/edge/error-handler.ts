import { ValidateError } from '@tsoa/runtime';
import type { ErrorRequestHandler } from 'express';
import { QueryTooLarge } from '../../clickhouse/request-queries.js';
import { DependencyError } from '../../runtime/failure.js';
import { NotBegun } from '../../runtime/fair-queue.js';
import type { Log } from '../../runtime/log.js';
import { Refused } from '../records/refusal.js';
import { failureOfRefusal, HttpFailure, sendFailure } from './http-failure.js';
import { contextOf } from './request-context.js';
import { ClientLeft } from './request-scope.js';
import { failureOfValidation } from './validation-failure.js';

const RETRY_AFTER_SECONDS = 1;

/** What was not begun: the caller sent too much at once, or others had to come first. */
function failureOfQueue({ reason, retryAfterSeconds }: NotBegun): HttpFailure {
  return reason === 'full'
    ? new HttpFailure(429, 'too_many_requests', {
        message: 'too many requests of this tenant wait already; wait and try again',
        retryAfterSeconds,
      })
    : new HttpFailure(503, 'service_unavailable', {
        message: 'the request waited too long for its turn; try again',
        retryAfterSeconds,
      });
}

const TOO_LARGE = new HttpFailure(400, 'validation_error', {
  message:
    'the answer needs more time or memory than one request may take: ask for a shorter time range, ' +
    'fewer meters or fewer customers',
});

function failureOf(error: unknown): HttpFailure | null {
  if (error instanceof HttpFailure) return error;
  if (error instanceof NotBegun) return failureOfQueue(error);
  if (error instanceof QueryTooLarge) return TOO_LARGE;
  if (error instanceof Refused) return failureOfRefusal(error.refusal);
  if (error instanceof ValidateError) return failureOfValidation(error);
  if (error instanceof URIError) {
    return new HttpFailure(400, 'validation_error', { message: 'the path is badly encoded' });
  }
  return null;
}

function outageFailure(error: DependencyError): HttpFailure {
  const message = `${error.dependency} does not answer; try again`;
  const retryAfterSeconds = RETRY_AFTER_SECONDS;
  return new HttpFailure(503, 'service_unavailable', { message, retryAfterSeconds });
}

/**
 * Turns the error of a request into the error body. A refusal is not a failure of this program and
 * is not logged. Outages and bugs are logged with the request id; the caller never sees their text.
 */
export function createErrorHandler(log: Log): ErrorRequestHandler {
  // Express knows an error handler by its four parameters.
  // eslint-disable-next-line max-params
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    if (error instanceof ClientLeft) {
      // Nobody reads an answer, but its end frees the place of a heavy request.
      response.end();
      return;
    }
    const refused = failureOf(error);
    if (refused !== null) {
      sendFailure(response, refused);
      return;
    }
    const { requestId, caller } = contextOf(request);
    const facts = { requestId, tenantId: caller?.environment.tenantId, err: error };
    if (error instanceof DependencyError) {
      log.warn(facts, 'a dependency failed');
      sendFailure(response, outageFailure(error));
      return;
    }
    log.error(facts, 'request failed');
    sendFailure(response, new HttpFailure(500, 'internal_error', { message: 'internal error' }));
  };
}
