import type { RequestListener, ServerResponse } from 'node:http';
import type { Metrics } from '../../runtime/metrics.js';
import { errorAnswer } from './answer.js';
import type { Readiness } from './readiness.js';
import { discardBody } from './read-body.js';
import { requestIdOf } from './read-headers.js';

type Page = { readonly status: number; readonly type: string; readonly body: string };

function json(status: number, content: object): Page {
  return { status, type: 'application/json', body: JSON.stringify(content) };
}

async function readinessPage(readiness: Readiness): Promise<Page> {
  const { isReady, dependencies } = await readiness();
  return json(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not_ready', dependencies });
}

const NOT_FOUND = errorAnswer({
  status: 404,
  code: 'not_found',
  message: 'no such path or method',
});

export type Operations = { readonly readiness: Readiness; readonly metrics: Metrics };

async function pageOf(path: string, operations: Operations): Promise<Page> {
  switch (path) {
    case '/livez':
      return json(200, { status: 'alive' });
    case '/readyz':
    case '/health':
      return readinessPage(operations.readiness);
    case '/metrics': {
      const { registry } = operations.metrics;
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    }
    default:
      return { status: NOT_FOUND.status, type: 'application/json', body: NOT_FOUND.body };
  }
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
