import { AsyncLocalStorage } from 'node:async_hooks';
import { setMaxListeners } from 'node:events';
import type { RequestHandler } from 'express';
import type { QueryScope } from '../../clickhouse/request-queries.js';
import { assertPresent } from '../../runtime/failure.js';
import { onBehalfOf } from '../../runtime/loop-turns.js';
import { contextOf } from './request-context.js';

/** The client has closed its connection: nobody waits for the answer. */
export class ClientLeft extends Error {
  constructor() {
    super('the client has left');
    this.name = 'ClientLeft';
  }
}

const scopes = new AsyncLocalStorage<QueryScope>();

/**
 * Runs what follows in the scope of the request: the environment of its key, and a signal that
 * aborts when the client leaves before the answer is complete. All of its turns on the event loop
 * are those of its tenant. It travels beside the parameters, so that a query which forgets the
 * environment, or names another one, still sees no other rows. Mounted directly before the
 * operations, since what reads bodies may lose it.
 */
export const enterRequestScope: RequestHandler = (request, response, next) => {
  const { caller } = contextOf(request);
  if (caller === null) {
    // Signing up and in asks ClickHouse nothing.
    next();
    return;
  }
  const leaving = new AbortController();
  // Every query of the request listens.
  setMaxListeners(0, leaving.signal);
  response.once('close', () => {
    if (!response.writableFinished) leaving.abort(new ClientLeft());
  });
  const { environment } = caller;
  onBehalfOf(environment.tenantId, () => scopes.run({ environment, signal: leaving.signal }, next));
};

/** The scope of the request at hand. @throws AssertionFailed outside of a request. */
export function currentScope(): QueryScope {
  return assertPresent(scopes.getStore(), 'the scope of a request');
}
