import type { Request, RequestHandler, Response } from 'express';
import { checkJsonLimits } from '../../../contract/check-json-limits.js';
import {
  BodyBudget,
  type BodyBudgetLimits,
  type BodyLease,
} from '../../../runtime/http/body-budget.js';
import { readBody, type BodyOutcome } from '../../../runtime/http/read-body.js';
import { takeTurn } from '../../../runtime/loop-turns.js';
import { StallWatch } from '../../../runtime/http/stall-watch.js';
import type { Metrics } from '../../../runtime/metrics.js';
import { hasBody } from '../validation/body.js';
import { HttpFailure } from '../http-failure.js';
import { operationIfDeclared } from '../operations.js';
import { contextOf, tenantOf } from '../request-context.js';
import { REST_JSON_LIMITS, TOO_DEEP, TOO_MANY_VALUES } from '../rest-json-limits.js';
import { whenAnswered } from './when-answered.js';

const MIB = 1024 * 1024;
const BODY_BYTES_MAX = 2 * MIB;

/**
 * Room for bodies of 48 MiB together, and 16 MiB for small ones. Parsed, a body takes up to ten
 * times its size until its answer.
 */
const BODY_LIMITS: BodyBudgetLimits = { bodyBytesMax: 16 * MIB, smallBytesMax: 16 * MIB };

function invalid(message: string, status = 400): HttpFailure {
  return new HttpFailure(status, 'validation_error', { message });
}

function tooLarge(): HttpFailure {
  return invalid('the body is larger than 2 MiB', 413);
}

function noRoom(): HttpFailure {
  const message = 'too many request bodies of this tenant are being read: retry in a second';
  return new HttpFailure(503, 'service_unavailable', { message, retryAfterSeconds: 1 });
}

function stalled(): HttpFailure {
  const message = 'less than 8 KiB of the body arrived in 5 seconds: send it again, faster';
  const headers = { Connection: 'close' };
  return new HttpFailure(408, 'validation_error', { message, headers });
}

/** Without its byte order mark, which is no part of the JSON. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalid('the body is not UTF-8');
  }
}

/** Where JSON.parse met what it could not read, as far as it says so. */
function placeOf(error: unknown): string {
  const place = /at position (\d+)/.exec(String(error))?.[1];
  return place === undefined ? '' : `, at character ${Number(place) + 1}`;
}

function parsed(text: string): unknown {
  // Parsing has no limits of its own: it would need seconds for some texts of 2 MiB.
  const excess = checkJsonLimits(text, REST_JSON_LIMITS);
  if (excess !== null) throw invalid(excess === 'too_deep' ? TOO_DEEP : TOO_MANY_VALUES);
  if (text === '') return {};
  // Every body of this API is an object.
  if (!/^\s*[{[]/.test(text))
    throw invalid('the body is not JSON: send an object, as in {"name": "Pro"}');
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw invalid(`the body is not JSON${placeOf(error)}: check quotes, commas and brackets`);
  }
}

function failureOf(kind: Exclude<BodyOutcome['kind'], 'body' | 'gone'>): HttpFailure {
  switch (kind) {
    case 'too_large':
      return tooLarge();
    case 'no_room':
      return noRoom();
    case 'corrupt_gzip':
      return invalid('the body cannot be decompressed: send gzip, or no Content-Encoding');
    case 'stalled':
      return stalled();
  }
}

/** Takes memory for a body, and gives it back when the request is answered. */
function leaseFor(request: Request, response: Response, budget: BodyBudget): BodyLease {
  const lease = budget.lease(tenantOf(request));
  if (lease === null) throw noRoom();
  whenAnswered(response, lease.release);
  return lease;
}

/**
 * Reads a JSON body of at most 2 MiB after decompression (docs/http.md 1.1, 1.7) into `body`;
 * mounted behind `authenticate` and `requireJson`. Its memory belongs to the budget until the
 * answer, because what was parsed is kept as long.
 */
export function createJsonBodyReader(options: {
  readonly metrics: Pick<Metrics, 'watchBodyBytes'>;
  readonly limits?: BodyBudgetLimits | undefined;
}): RequestHandler {
  const budget = new BodyBudget(options.limits ?? BODY_LIMITS);
  const stalls = new StallWatch();
  options.metrics.watchBodyBytes('rest', () => budget.bytesHeld);
  return async (request, response, next) => {
    if (!hasBody(request)) {
      next();
      return;
    }
    if (Number(request.get('content-length') ?? 0) > BODY_BYTES_MAX) throw tooLarge();
    const lease = leaseFor(request, response, budget);
    const isGzip = /^gzip$/i.test((request.get('content-encoding') ?? '').trim());
    const outcome = await readBody(request, { isGzip, bytesMax: BODY_BYTES_MAX, lease, stalls });
    if (outcome.kind === 'gone') {
      lease.release();
      return;
    }
    if (outcome.kind !== 'body') throw failureOf(outcome.kind);
    if (operationIfDeclared(request)?.isSigned === true) {
      contextOf(request).signedBytes = outcome.bytes;
    }
    // Some bodies take tens of milliseconds to parse.
    await takeTurn(tenantOf(request));
    request.body = parsed(textOf(outcome.bytes));
    next();
  };
}
