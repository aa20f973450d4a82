import express, { type RequestHandler, type Router } from 'express';
import { messageOf } from '../../runtime/failure.js';
import type { Metrics } from '../../runtime/metrics.js';

/** A part that the program cannot work without. */
export type NamedDependency = { readonly name: string; readonly ping: () => Promise<void> };

export type Operations = {
  readonly dependencies: readonly NamedDependency[];
  readonly metrics: Metrics;
};

type Readiness = { readonly name: string; readonly status: 'up' | 'down'; readonly error?: string };

const PING_TIMEOUT_MS = 2_000;

async function readinessOf({ name, ping }: NamedDependency): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('does not answer')), PING_TIMEOUT_MS);
  });
  try {
    await Promise.race([ping(), timeout]);
    return { name, status: 'up' };
  } catch (error) {
    return { name, status: 'down', error: messageOf(error).slice(0, 200) };
  } finally {
    clearTimeout(timer);
  }
}

function answerReadiness(dependencies: readonly NamedDependency[]): RequestHandler {
  return async (_request, response) => {
    const states = await Promise.all(dependencies.map(readinessOf));
    const isReady = states.every((state) => state.status === 'up');
    response
      .status(isReady ? 200 : 503)
      .json({ status: isReady ? 'ready' : 'not_ready', dependencies: states });
  };
}

/** /livez, /readyz, /health and /metrics (api.md 2.3): outside /v1, without a key. */
export function createOperationsRouter({ dependencies, metrics }: Operations): Router {
  const router = express.Router();
  router.get('/livez', (_request, response) => {
    response.json({ status: 'live' });
  });
  const answer = answerReadiness(dependencies);
  router.get('/readyz', answer);
  router.get('/health', answer);
  router.get('/metrics', async (_request, response) => {
    const text = await metrics.registry.metrics();
    response.type(metrics.registry.contentType).send(text);
  });
  return router;
}
