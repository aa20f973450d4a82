import type { RequestHandler, Response } from 'express';
import type { Environment } from '../../../contract/environment.js';
import type { Clock } from '../../../runtime/clock.js';
import type { Log } from '../../../runtime/log.js';
import { createUlid } from '../../../runtime/ulid.js';
import {
  claimKey,
  releaseClaim,
  storeAnswer,
  type ClaimOutcome,
  type StoredAnswer,
} from './idempotency-store.js';
import type { BillingDatabase } from '../../records/unit.js';
import type { IdempotencyClaim } from '../../records/occasion.js';
import { HttpFailure } from '../http-failure.js';
import { operationIfDeclared } from '../operations.js';
import { contextOf, requestCallerOf } from '../request-context.js';
import { requestIdentityOf } from './request-identity.js';

const KEY = /^[\x20-\x7e]{1,255}$/;
const STORED_HEADERS = ['ETag', 'Location'] as const;

type Dependencies = {
  readonly database: BillingDatabase;
  readonly clock: Clock;
  readonly log: Log;
};

function refusalOf(outcome: Exclude<ClaimOutcome['outcome'], 'claimed' | 'answered'>): HttpFailure {
  switch (outcome) {
    case 'other-request':
      return new HttpFailure(409, 'already_exists', {
        message:
          'the Idempotency-Key was used for another request, or by another user; send a new one',
      });
    case 'running':
      return new HttpFailure(409, 'version_conflict', {
        message: 'the first request with this Idempotency-Key is still running; try again later',
        retryAfterSeconds: 1,
      });
    case 'lost':
      return new HttpFailure(409, 'already_exists', {
        message: 'the first request was carried out, but its answer was lost; read the record',
      });
  }
}

function replay(response: Response, answer: StoredAnswer): void {
  response.set('Idempotency-Replayed', 'true').set(answer.headers).status(answer.status);
  if (answer.body === '') response.end();
  else response.type('application/json').send(answer.body);
}

/** The headers that belong to the answer rather than to the moment at which it is given. */
function storedHeadersOf(response: Response): StoredAnswer['headers'] {
  const given: [string, string][] = [];
  for (const name of STORED_HEADERS) {
    const value = response.get(name);
    if (value !== undefined) given.push([name, value]);
  }
  return Object.fromEntries(given);
}

/** Runs `before` when the answer is complete, and sends the answer afterwards. */
function holdAnswer(response: Response, before: (answer: StoredAnswer) => Promise<void>): void {
  const end = response.end.bind(response) as (...parameters: unknown[]) => Response;
  const held = (...parameters: unknown[]): Response => {
    const [chunk] = parameters;
    const body = typeof chunk === 'string' || Buffer.isBuffer(chunk) ? chunk.toString() : '';
    const answer = { status: response.statusCode, headers: storedHeadersOf(response), body };
    void before(answer).finally(() => end(...parameters));
    return response;
  };
  response.end = held as Response['end'];
}

/**
 * Stores a success, or frees the key: a refused request has written nothing, so a retry is carried
 * out again. The caller gets the answer even when this fails.
 */
function keeper(
  dependencies: Dependencies,
  environment: Environment,
  claim: IdempotencyClaim,
): (answer: StoredAnswer) => Promise<void> {
  const { database, log } = dependencies;
  return async (answer) => {
    const isSuccess = answer.status >= 200 && answer.status < 300;
    try {
      if (isSuccess) await storeAnswer(database, environment, { claim, answer });
      else await releaseClaim(database, environment, claim);
    } catch (error) {
      log.warn({ err: error }, 'the answer to a repeatable request was not stored');
    }
  };
}

/**
 * Idempotency-Key (docs/http.md 1.9), mounted behind the body parser. Operations that are not
 * repeatable ignore the header. The claim travels with the request to its operation, whose
 * transaction marks it as applied.
 */
export function createIdempotency(dependencies: Dependencies): RequestHandler {
  return async (request, response, next) => {
    const key = request.get('idempotency-key');
    if (key === undefined || operationIfDeclared(request)?.isRepeatable !== true) {
      next();
      return;
    }
    if (!KEY.test(key)) {
      const message = 'Idempotency-Key must have 1 to 255 printable characters';
      throw new HttpFailure(400, 'validation_error', { message });
    }
    const { environment } = requestCallerOf(request);
    const outcome = await claimKey(dependencies.database, {
      environment,
      request: requestIdentityOf(request, key),
      claimId: createUlid(),
      now: dependencies.clock.now(),
    });
    if (outcome.outcome === 'answered') {
      replay(response, outcome.answer);
      return;
    }
    if (outcome.outcome !== 'claimed') throw refusalOf(outcome.outcome);
    contextOf(request).claim = outcome.claim;
    holdAnswer(response, keeper(dependencies, environment, outcome.claim));
    next();
  };
}
