import type { Request, RequestHandler } from 'express';
import type { Log } from '../../runtime/log.js';
import type { Metrics } from '../../runtime/metrics.js';
import { contextOf } from './request-context.js';

/** The pattern of the route, never the path: an id in a label would make a series per record. */
function routeOf(request: Request): string {
  const route: unknown = request.route;
  if (typeof route !== 'object' || route === null || !('path' in route)) return 'none';
  return String(route.path);
}

/** Measures every request and writes one debug line about it. */
export function createObserver(metrics: Metrics, log: Log): RequestHandler {
  return (request, response, next) => {
    const startedAt = process.hrtime.bigint();
    response.on('finish', () => {
      const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
      const labels = {
        method: request.method,
        route: routeOf(request),
        status: String(response.statusCode),
      };
      metrics.httpSeconds.observe(labels, seconds);
      const { requestId, caller } = contextOf(request);
      const tenantId = caller?.environment.tenantId;
      log.debug({ requestId, tenantId, ...labels, seconds }, 'request');
    });
    next();
  };
}
