import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Environment } from '../../contract/environment.js';
import type { BodyBudget } from '../../runtime/http/body-budget.js';
import { discardBody } from '../../runtime/http/read-body.js';
import { admit, type AdmissionDependencies } from './admit.js';
import { CROSS_ORIGIN_HEADERS } from './cross-origin.js';
import { unavailableAnswer, type Answer } from './answer.js';
import { answerEvents, type AnswerDependencies } from './answer-events.js';
import type { EventRoute } from './event-route.js';
import type { FailureAnswer } from './failure-answer.js';
import type { RateState } from '../../runtime/http/rate-limit.js';
import type { CountAnswer } from './request-metrics.js';

/** A request for one of the event routes, and its response. */
export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: EventRoute;
  /** Tells a client that waits for `100 Continue` to send its body. */
  readonly askForBody: () => void;
  readonly requestId: string;
};

export type ServeDependencies = AdmissionDependencies & {
  readonly budget: BodyBudget;
  readonly answering: AnswerDependencies;
  readonly failureAnswer: FailureAnswer;
  readonly count: CountAnswer;
};

/** Discards what is still to come of the body of a request that is answered without it. */
function withoutBody({ request }: Exchange, answer: Answer): Answer {
  if (!request.complete) discardBody(request);
  return answer;
}

/** Null when the client has left, so that nobody can be answered. */
function answerAdmitted(
  exchange: Exchange,
  environment: Environment,
  { budget, answering }: ServeDependencies,
): Answer | Promise<Answer | null> {
  const lease = budget.lease(environment.tenantId);
  if (lease === null) {
    const message = 'too many requests are being processed: retry in a second';
    return withoutBody(exchange, unavailableAnswer(message));
  }
  const { request, route, askForBody } = exchange;
  return answerEvents({ request, route, askForBody, environment, lease }, answering);
}

function send(exchange: Exchange, answer: Answer, headers: readonly string[]): void {
  const { response, requestId } = exchange;
  const all = ['Content-Type', 'application/json', 'X-Request-ID', requestId];
  all.push('Cache-Control', 'no-store', ...CROSS_ORIGIN_HEADERS);
  all.push('Content-Length', String(Buffer.byteLength(answer.body)), ...headers);
  if (answer.retryAfterSeconds !== null) all.push('Retry-After', String(answer.retryAfterSeconds));
  if (answer.closesConnection === true) response.shouldKeepAlive = false;
  response.writeHead(answer.status, all);
  response.end(answer.body);
}

/** Admits, answers and counts one request. Never rejects. */
export async function serveExchange(
  exchange: Exchange,
  dependencies: ServeDependencies,
): Promise<void> {
  const startedAt = performance.now();
  let rate: RateState | null = null;
  let answer: Answer | null;
  try {
    const admitting = admit(exchange.request, dependencies);
    const admission = admitting instanceof Promise ? await admitting : admitting;
    rate = admission.rate;
    answer =
      admission.kind === 'admitted'
        ? await answerAdmitted(exchange, admission.environment, dependencies)
        : withoutBody(exchange, admission.answer);
  } catch (error) {
    answer = withoutBody(exchange, dependencies.failureAnswer(error, exchange.requestId));
  }
  if (answer === null) return;
  send(exchange, answer, dependencies.rateLimit.headers(rate));
  dependencies.count(exchange.route.path, answer, (performance.now() - startedAt) / 1000);
}
