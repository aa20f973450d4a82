import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from './failure.js';
import type { Metrics } from './metrics.js';

/** Resolves when a dependency can be used; rejects with the reason when it cannot. */
export type HealthCheck = () => Promise<void>;
export type HealthChecks = Readonly<Record<string, HealthCheck>>;

type CheckResult = { readonly status: 'ok' } | { readonly status: 'down'; readonly reason: string };
export type HealthReport = {
  readonly status: 'ok' | 'down';
  readonly dependencies: Readonly<Record<string, CheckResult>>;
};

const CHECK_TIMEOUT_MS = 2_000;

async function runCheck(check: HealthCheck): Promise<CheckResult> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), CHECK_TIMEOUT_MS);
  });
  try {
    await Promise.race([check(), timeout]);
    return { status: 'ok' };
  } catch (error) {
    return { status: 'down', reason: messageOf(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Asks every dependency, at the same time, each for two seconds at most. */
export async function checkHealth(checks: HealthChecks): Promise<HealthReport> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check)] as const),
  );
  const isUp = results.every(([, result]) => result.status === 'ok');
  return { status: isUp ? 'ok' : 'down', dependencies: Object.fromEntries(results) };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/**
 * Serves the operational routes without a key (api.md 2.3): `/livez`, `/readyz`, `/health` and
 * `/metrics`. Resolves to false, with nothing written, for any other request.
 */
export function createOperationalRoutes(metrics: Metrics, checks: HealthChecks) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    switch (request.url?.split('?')[0]) {
      case '/livez':
        answer(response, 200, { status: 'ok' });
        return true;
      case '/readyz':
      case '/health': {
        const report = await checkHealth(checks);
        answer(response, report.status === 'ok' ? 200 : 503, report);
        return true;
      }
      case '/metrics':
        response.writeHead(200, { 'content-type': metrics.registry.contentType });
        response.end(await metrics.registry.metrics());
        return true;
      case undefined:
      default:
        return false;
    }
  };
}
