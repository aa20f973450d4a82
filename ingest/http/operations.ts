import type { RequestListener, ServerResponse } from 'node:http';
import {
  createOperationalPages,
  type OperationalPages,
  type Operations,
  type Page,
} from '../../runtime/operational-pages.js';
import type { PublicRate, PublicTurn } from '../../runtime/http/public-rate.js';
import { errorAnswer, type Answer } from './answer.js';
import { isEventPath } from './event-route.js';
import { discardBody } from '../../runtime/http/read-body.js';
import { requestIdOf } from './read-headers.js';

const NOT_FOUND = errorAnswer({ status: 404, code: 'not_found', message: 'there is no such path' });

/** A page, with further headers as names and values in turn. */
type Reply = Page & { readonly headers: readonly string[] };

function replyOf({ status, body, retryAfterSeconds }: Answer, headers: readonly string[]): Reply {
  const wait = retryAfterSeconds === null ? [] : ['Retry-After', String(retryAfterSeconds)];
  return { status, type: 'application/json', body, headers: [...headers, ...wait] };
}

function otherMethod(allow: string): Reply {
  const message = `this path does not have this method: use ${allow}`;
  return replyOf(errorAnswer({ status: 405, code: 'invalid_operation', message }), [
    'Allow',
    allow,
  ]);
}

type Asked = { readonly method: string; readonly path: string };

async function replyTo({ method, path }: Asked, pageOf: OperationalPages): Promise<Reply> {
  if (isEventPath(path)) return otherMethod('POST');
  const page = await pageOf(path);
  if (page === null) return replyOf(NOT_FOUND, []);
  return isReading(method) ? { ...page, headers: [] } : otherMethod('GET, HEAD');
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function refusal({ refusal: { message, retryAfterSeconds } }: PublicRate): Reply {
  const code = 'too_many_requests';
  return replyOf(errorAnswer({ status: 429, code, message, retryAfterSeconds }), []);
}

function send(response: ServerResponse, reply: Reply, requestId: string): void {
  response.writeHead(reply.status, [
    'Content-Type',
    reply.type,
    'Content-Length',
    String(Buffer.byteLength(reply.body)),
    'Cache-Control',
    'no-store',
    'X-Request-ID',
    requestId,
    ...reply.headers,
  ]);
  response.end(reply.body);
}

const UNCOUNTED: PublicTurn = { isAllowed: true, headers: [] };

/**
 * Health and metrics (docs/http.md 2.3); 405 for a path that has
 * other methods only, 404 for every other path.
 * @param rate of the metrics.
 */
export function createOperations(operations: Operations, rate: PublicRate): RequestListener {
  const pageOf = createOperationalPages(operations);
  return (request, response) => {
    discardBody(request);
    const requestId = requestIdOf(request);
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const method = request.method ?? '';
    const isCounted = path === '/metrics' && isReading(method);
    const { isAllowed, headers } = isCounted ? rate.take(request) : UNCOUNTED;
    const reply = isAllowed ? replyTo({ method, path }, pageOf) : Promise.resolve(refusal(rate));
    void reply.then((known) => {
      send(response, { ...known, headers: [...known.headers, ...headers] }, requestId);
    });
  };
}
