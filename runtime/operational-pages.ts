import type { Metrics } from './metrics.js';
import type { Readiness } from './readiness.js';
import { reusedFor } from './reused.js';

export type Page = {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
};
export type Operations = {
  readonly readiness: Readiness;
  readonly metrics: { readonly registry: Pick<Metrics['registry'], 'contentType' | 'metrics'> };
};

/** The page of a path; null when the path is none of them. */
export type OperationalPages = (path: string) => Promise<Page | null>;

/** Metrics take milliseconds to write down, and whoever watches a program asks far less often. */
const METRICS_REUSED_MS = 1_000;

function json(status: number, content: object): Page {
  return { status, type: 'application/json', body: JSON.stringify(content) };
}

/**
 * The operational pages that every program serves without a key (docs/http.md 2.3): `/livez`,
 * `/readyz` and `/health` (which name each dependency and answer 503 when one is down) and
 * `/metrics`, computed at most once a second and sent from one buffer.
 */
export function createOperationalPages(operations: Operations): OperationalPages {
  const { registry } = operations.metrics;
  const metrics = reusedFor(METRICS_REUSED_MS, async () => Buffer.from(await registry.metrics()));
  return async (path) => {
    switch (path) {
      case '/livez':
        return json(200, { status: 'alive' });
      case '/readyz':
      case '/health': {
        const { isReady, isStopping, dependencies } = await operations.readiness();
        const unready = isStopping ? 'stopping' : 'not_ready';
        return json(isReady ? 200 : 503, { status: isReady ? 'ready' : unready, dependencies });
      }
      case '/metrics': {
        return { status: 200, type: registry.contentType, body: await metrics() };
      }
      default:
        return null;
    }
  };
}
