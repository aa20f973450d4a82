import type { IncomingMessage, ServerResponse } from 'node:http';
import { isEventPath } from './event-route.js';
import { requestIdOf } from './read-headers.js';

/** A day; browsers cut it to what they allow. */
const PREFLIGHT_KEPT_SECONDS = 86_400;

/**
 * Lets pages of any origin read the answers of the event routes, as names and values in turn, so
 * that a browser can send events with a publishable key (docs/http.md 1.2). A key in a header is no
 * credential of the browser, so no origin can use another's.
 */
export const CROSS_ORIGIN_HEADERS: readonly string[] = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  'X-Request-ID, RateLimit-Policy, RateLimit, Retry-After',
];

const PREFLIGHT_HEADERS = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Allow-Methods',
  'POST',
  'Access-Control-Allow-Headers',
  'content-type, content-encoding, x-api-key, idempotency-key, x-request-id',
  'Access-Control-Max-Age',
  String(PREFLIGHT_KEPT_SECONDS),
  'Cache-Control',
  'no-store',
];

/** Answers a browser that asks whether a page may send an event; false for any other request. */
export function answerPreflight(request: IncomingMessage, response: ServerResponse): boolean {
  if (request.method !== 'OPTIONS') return false;
  if (request.headers['access-control-request-method'] === undefined) return false;
  if (!isEventPath((request.url ?? '').split('?', 1)[0] ?? '')) return false;
  response.writeHead(204, [...PREFLIGHT_HEADERS, 'X-Request-ID', requestIdOf(request)]);
  response.end();
  return true;
}
