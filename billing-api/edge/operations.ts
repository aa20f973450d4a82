import type { RequestHandler } from 'express';
import { operationalPage, type Operations } from '../../runtime/operational-pages.js';

/** The operational pages (api.md 2.3): outside /v1, without a key; any other path goes on. */
export function createOperations(operations: Operations): RequestHandler {
  return async (request, response, next) => {
    const page = request.method === 'GET' ? await operationalPage(request.path, operations) : null;
    if (page === null) next();
    else response.status(page.status).type(page.type).send(page.body);
  };
}
