import type { Config } from '../config.js';
import type { Lifecycle } from '../lifecycle.js';
import type { Metrics } from '../metrics.js';
import { createOperationalPages, type Operations } from '../operational-pages.js';
import { listenOn } from './listen-on.js';
import { ProgramServer, serveWith } from './program-server.js';

/** What `serveOperations` reads. */
export const OPERATIONS_SETTINGS = ['MINUTEBOOK_METRICS_HOST', 'MINUTEBOOK_METRICS_PORT'] as const;

export type OperationsPort = {
  readonly config: Config<(typeof OPERATIONS_SETTINGS)[number]>;
  readonly operations: Operations;
  readonly metrics: Metrics;
  readonly lifecycle: Lifecycle;
};

/**
 * Shows health and metrics of a program on a port of their own, where whoever watches the program
 * reaches them and clients do not. Resolves with the port.
 * @throws ConfigError when the port cannot be used.
 */
export async function serveOperations(options: OperationsPort): Promise<number> {
  const { config, operations, metrics, lifecycle } = options;
  const pageOf = createOperationalPages(operations);
  const server = new ProgramServer({
    handler: serveWith((request, response) => {
      request.resume();
      void pageOf(request.url?.split('?', 1)[0] ?? '').then((page) => {
        response.writeHead(page?.status ?? 404, { 'content-type': page?.type ?? 'text/plain' });
        response.end(page?.body);
      });
    }),
    metrics,
  });
  const { MINUTEBOOK_METRICS_HOST: host, MINUTEBOOK_METRICS_PORT: port } = config;
  const used = await listenOn(server, { host, port, setting: 'MINUTEBOOK_METRICS_PORT' });
  lifecycle.onClose('health and metrics', () => server.close());
  return used;
}
