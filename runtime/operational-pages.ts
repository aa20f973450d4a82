import type { Metrics } from './metrics.js';
import type { Readiness } from './readiness.js';

export type Page = { readonly status: number; readonly type: string; readonly body: string };
export type Operations = {
  readonly readiness: Readiness;
  readonly metrics: { readonly registry: Pick<Metrics['registry'], 'contentType' | 'metrics'> };
};

function json(status: number, content: object): Page {
  return { status, type: 'application/json', body: JSON.stringify(content) };
}

/**
 * The operational pages that every program serves without a key (docs/http.md 2.3): `/livez`,
 * `/readyz` and `/health` (which name each dependency and answer 503 when one is down) and
 * `/metrics`. Null for any other path.
 */
export async function operationalPage(path: string, operations: Operations): Promise<Page | null> {
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
      const { registry } = operations.metrics;
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    }
    default:
      return null;
  }
}
