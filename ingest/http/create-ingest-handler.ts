import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyBudget } from '../../runtime/http/body-budget.js';
import { createEventIdSource } from './event-ids.js';
import { BODY_BYTES_MAX } from './read-events-body.js';
import { eventRouteOf } from './event-route.js';
import { createFailureAnswer } from './failure-answer.js';
import type { IngestDependencies } from './ingest-dependencies.js';
import { createProduce } from './produce.js';
import { createRateLimit } from '../../runtime/http/rate-limit.js';
import { requestIdOf } from './read-headers.js';
import { createRequestMetrics } from './request-metrics.js';
import { serveExchange, type ServeDependencies } from './serve-exchange.js';

/**
 * Beside 96 MiB for larger bodies (`BodyBudget`). A body takes up to six times its size while it is
 * processed (text, parsed values, records), so that the process stays below some 700 MB whatever is
 * sent. At ordinary sizes it stays far below: 256 connections with bulk requests of 130 kB hold
 * 33 MB.
 */
const BODY_LIMITS = { bodyBytesMax: BODY_BYTES_MAX, smallBytesMax: 16 * 1024 * 1024 };

/** The name of the quota in headers (docs/http.md 1.10). */
const QUOTA = 'ingest';

/**
 * Serves `POST /v1/events` and `POST /v1/events/bulk`. Returns false for every other request and
 * leaves it untouched. Calls `askForBody` when it wants the body of a client that waits for
 * `100 Continue`.
 */
export type IngestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  askForBody: () => void,
) => boolean;

function serveDependencies(dependencies: IngestDependencies): ServeDependencies {
  const { apiKeys, held, log, metrics, requestsPerSecond, writer } = dependencies;
  const budget = new BodyBudget(dependencies.bodyLimits ?? BODY_LIMITS);
  metrics.watchBodyBytes('events', () => budget.bytesHeld);
  return {
    apiKeys,
    failedAuthentication: dependencies.failedAuthentication,
    rateLimit: createRateLimit(QUOTA, requestsPerSecond),
    budget,
    answering: {
      clock: held,
      partitionCount: writer.identity.partitionCount,
      produce: createProduce(dependencies),
      createEventId: createEventIdSource(),
    },
    failureAnswer: createFailureAnswer(log),
    count: createRequestMetrics(metrics),
  };
}

/**
 * The raw handler that stands in front of everything else on a port (docs/internals/architecture.md
 * 3.3).
 */
export function createIngestHandler(dependencies: IngestDependencies): IngestHandler {
  const serving = serveDependencies(dependencies);
  return (request, response, askForBody) => {
    const route = eventRouteOf(request);
    if (route === null) return false;
    const requestId = requestIdOf(request);
    void serveExchange({ request, response, route, askForBody, requestId }, serving);
    return true;
  };
}
