import type { RequestListener, ServerResponse } from 'node:http';
import { operationalPage, type Operations, type Page } from '../../runtime/operational-pages.js';
import { errorAnswer } from './answer.js';
import { discardBody } from './read-body.js';
import { requestIdOf } from './read-headers.js';

const NOT_FOUND = errorAnswer({
  status: 404,
  code: 'not_found',
  message: 'no such path or method',
});

async function pageOf(path: string, operations: Operations): Promise<Page> {
  const page = await operationalPage(path, operations);
  return page ?? { status: NOT_FOUND.status, type: 'application/json', body: NOT_FOUND.body };
}

function send(response: ServerResponse, page: Page, requestId: string): void {
  response.writeHead(page.status, { 'Content-Type': page.type, 'X-Request-ID': requestId });
  response.end(page.body);
}

/** Health and metrics of a separately run ingest (api.md 2.3); 404 for everything else. */
export function createOperations(operations: Operations): RequestListener {
  return (request, response) => {
    discardBody(request);
    const requestId = requestIdOf(request);
    const path = request.method === 'GET' ? (request.url ?? '').split('?', 1)[0] : '';
    void pageOf(path ?? '', operations).then((page) => send(response, page, requestId));
  };
}
