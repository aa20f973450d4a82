import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { EventProblem } from '../accept/event-problem.js';

const REQUEST_ID = /^[\x20-\x7e]{1,128}$/;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** The client's `X-Request-ID` if it is printable, else a new id (docs/http.md 1.4). */
export function requestIdOf(request: IncomingMessage): string {
  const given = headerOf(request, 'x-request-id');
  return given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
}

/** What the headers say about the body and about retries. */
export type RequestForm = {
  readonly isGzip: boolean;
  /** Null when the client sent none. */
  readonly idempotencyKey: string | null;
};

function isJsonType(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const isUtf8 = parameters.every(
    (parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter),
  );
  return type === 'application/json' && isUtf8;
}

/** Reads `Content-Type`, `Content-Encoding` and `Idempotency-Key`. */
export function requestFormOf(request: IncomingMessage): RequestForm | EventProblem {
  if (!isJsonType(headerOf(request, 'content-type'))) {
    return { member: 'Content-Type', problem: 'must be application/json in UTF-8' };
  }
  const encoding = (headerOf(request, 'content-encoding') ?? 'identity').trim().toLowerCase();
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip';
  if (!isGzip && encoding !== 'identity' && encoding !== '') {
    return { member: 'Content-Encoding', problem: 'is not supported: send gzip or leave it out' };
  }
  const idempotencyKey = headerOf(request, 'idempotency-key') ?? null;
  if (idempotencyKey !== null && !IDEMPOTENCY_KEY.test(idempotencyKey)) {
    const problem = 'must have 1 to 255 printable ASCII characters';
    return { member: 'Idempotency-Key', problem };
  }
  return { isGzip, idempotencyKey };
}

/** `Content-Length`; null when absent (a chunked body, or none). */
export function contentLengthOf(request: IncomingMessage): number | null {
  const text = headerOf(request, 'content-length');
  return text === undefined ? null : Number(text);
}
