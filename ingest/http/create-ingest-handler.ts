import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Environment } from '../../contract/environment.js';
import type { EventLogWriter } from '../../event-log/event-log.js';
import type { Clock } from '../../runtime/clock.js';
import { DependencyError, messageOf } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import type { Metrics } from '../../runtime/metrics.js';
import { admit, type ApiKeys } from './admit.js';
import { errorAnswer, unavailableAnswer, type Answer } from './answer.js';
import { answerEvents, type Answering } from './answer-events.js';
import { BodyBudget } from './body-budget.js';
import { createEventIdSource } from './event-ids.js';
import { eventRouteOf, type EventRoute } from './event-route.js';
import { createProduce } from './produce.js';
import { createRateLimit, rateLimitHeader, type RateLimit, type RateState } from './rate-limit.js';
import { discardBody } from './read-body.js';
import { requestIdOf } from './read-headers.js';
import { createRequestMetrics } from './request-metrics.js';

export type IngestDependencies = {
  readonly writer: EventLogWriter;
  readonly apiKeys: ApiKeys;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
  /** Requests per second and environment; 0 sets no limit. */
  readonly requestsPerSecond: number;
  readonly produceTimeoutMs: number;
  /** See `BodyBudget`; `BODY_BYTES_IN_FLIGHT_MAX` unless a test wants less. */
  readonly bodyBytesInFlightMax?: number;
};

/**
 * Twice the largest body. A body costs up to six times its size while it is judged (text, parsed
 * values, records), so that the process stays below some 500 MB whatever is sent, and far below at
 * ordinary sizes: 256 connections with bulk requests of 130 kB hold 33 MB.
 */
const BODY_BYTES_IN_FLIGHT_MAX = 64 * 1024 * 1024;

/** The name of the quota in headers (api.md 1.10). */
const QUOTA = 'ingest';

/** An outage fails every request alike; one line in this time says so. */
const OUTAGE_LOG_INTERVAL_MS = 1_000;

/**
 * Serves `POST /v1/events` and `POST /v1/events/bulk`; false for every other request, which is
 * left untouched. `askForBody` is called when a body that waits for `100 Continue` is wanted.
 */
export type IngestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  askForBody?: () => void,
) => boolean;

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: EventRoute;
  readonly askForBody: () => void;
  readonly requestId: string;
};

class EventRoutes {
  readonly #rateLimit: RateLimit;
  readonly #budget: BodyBudget;
  readonly #answering: Answering;
  readonly #count: ReturnType<typeof createRequestMetrics>;
  #outageLoggedAtMs = -Infinity;

  constructor(private readonly dependencies: IngestDependencies) {
    this.#rateLimit = createRateLimit(QUOTA, dependencies.requestsPerSecond);
    this.#budget = new BodyBudget(dependencies.bodyBytesInFlightMax ?? BODY_BYTES_IN_FLIGHT_MAX);
    this.#answering = {
      clock: dependencies.clock,
      partitionCount: dependencies.writer.identity.partitionCount,
      produce: createProduce(dependencies),
      createEventId: createEventIdSource(),
    };
    this.#count = createRequestMetrics(dependencies.metrics);
  }

  /** Never rejects. */
  async serve(exchange: Exchange): Promise<void> {
    const startedAt = performance.now();
    const { apiKeys } = this.dependencies;
    let rate: RateState | null = null;
    let answer: Answer | null;
    try {
      const admission = await admit(exchange.request, { apiKeys, rateLimit: this.#rateLimit });
      rate = admission.rate;
      answer =
        admission.kind === 'admitted'
          ? await this.#answered(exchange, admission.environment)
          : this.#turnedAway(exchange, admission.answer);
    } catch (error) {
      answer = this.#turnedAway(exchange, this.#failureAnswer(error, exchange.requestId));
    }
    if (answer === null) return;
    this.#send(exchange, answer, rate);
    this.#count(exchange.route.path, answer, (performance.now() - startedAt) / 1000);
  }

  /** The body, if it is still coming, is not wanted any more. */
  #turnedAway({ request }: Exchange, answer: Answer): Answer {
    if (!request.complete) discardBody(request);
    return answer;
  }

  /** Null when the client has left: there is nobody to answer. */
  async #answered(exchange: Exchange, environment: Environment): Promise<Answer | null> {
    const lease = this.#budget.lease();
    if (lease === null) {
      const message = 'too many requests are being answered: repeat in a second';
      return this.#turnedAway(exchange, unavailableAnswer(message));
    }
    const { request, route, askForBody } = exchange;
    try {
      return await answerEvents(
        { request, route, askForBody, environment, lease },
        this.#answering,
      );
    } finally {
      lease.release();
    }
  }

  #failureAnswer(error: unknown, requestId: string): Answer {
    if (error instanceof DependencyError) {
      this.#logOutage(error, requestId);
      return unavailableAnswer('not stored, or not known to be: repeat with the same event_id');
    }
    this.dependencies.log.error({ requestId, error: messageOf(error) }, 'bug in the event routes');
    const message = 'an unforeseen error';
    return errorAnswer({ status: 500, code: 'internal_error', message });
  }

  #logOutage(error: DependencyError, requestId: string): void {
    const now = performance.now();
    if (now - this.#outageLoggedAtMs < OUTAGE_LOG_INTERVAL_MS) return;
    this.#outageLoggedAtMs = now;
    const { dependency, message } = error;
    this.dependencies.log.warn({ requestId, dependency, error: message }, 'answered 503');
  }

  #send(exchange: Exchange, answer: Answer, rate: RateState | null): void {
    const { response, requestId } = exchange;
    const headers = ['Content-Type', 'application/json', 'X-Request-ID', requestId];
    headers.push('Content-Length', String(Buffer.byteLength(answer.body)));
    const { policy } = this.#rateLimit;
    if (policy !== null) headers.push('RateLimit-Policy', policy);
    if (rate !== null) headers.push('RateLimit', rateLimitHeader(QUOTA, rate));
    if (answer.retryAfterSeconds !== null) {
      headers.push('Retry-After', String(answer.retryAfterSeconds));
    }
    response.writeHead(answer.status, headers);
    response.end(answer.body);
  }
}

/** The raw handler that stands in front of everything else on a port (architecture.md 3.3). */
export function createIngestHandler(dependencies: IngestDependencies): IngestHandler {
  const routes = new EventRoutes(dependencies);
  return (request, response, askForBody = () => undefined) => {
    const route = eventRouteOf(request);
    if (route === null) return false;
    const requestId = requestIdOf(request);
    void routes.serve({ request, response, route, askForBody, requestId });
    return true;
  };
}
