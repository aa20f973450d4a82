import type { RequestListener, ServerResponse } from 'node:http';
import { operationalPage, type Operations, type Page } from '../../runtime/operational-pages.js';
import { errorAnswer } from './answer.js';
import { isEventPath } from './event-route.js';
import { discardBody } from '../../runtime/http/read-body.js';
import { requestIdOf } from './read-headers.js';

const NOT_FOUND = errorAnswer({ status: 404, code: 'not_found', message: 'there is no such path' });

/** A page, with the value of the header `Allow` when the path exists for other methods only. */
type Reply = Page & { readonly allow: string | null };

function otherMethod(allow: string): Reply {
  const { status, body } = errorAnswer({
    status: 405,
    code: 'invalid_operation',
    message: `this path does not have this method: use ${allow}`,
  });
  return { status, type: 'application/json', body, allow };
}

async function replyTo(method: string, path: string, operations: Operations): Promise<Reply> {
  if (isEventPath(path)) return otherMethod('POST');
  const page = await operationalPage(path, operations);
  if (page === null) {
    return {
      status: NOT_FOUND.status,
      type: 'application/json',
      body: NOT_FOUND.body,
      allow: null,
    };
  }
  return method === 'GET' || method === 'HEAD'
    ? { ...page, allow: null }
    : otherMethod('GET, HEAD');
}

function send(response: ServerResponse, reply: Reply, requestId: string): void {
  response.writeHead(reply.status, {
    'Content-Type': reply.type,
    'Cache-Control': 'no-store',
    'X-Request-ID': requestId,
    ...(reply.allow === null ? {} : { Allow: reply.allow }),
  });
  response.end(reply.body);
}

/**
 * Health and metrics (docs/http.md 2.3); 405 for a path that has
 * other methods only, 404 for every other path.
 */
export function createOperations(operations: Operations): RequestListener {
  return (request, response) => {
    discardBody(request);
    const requestId = requestIdOf(request);
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const reply = replyTo(request.method ?? '', path, operations);
    void reply.then((known) => send(response, known, requestId));
  };
}
