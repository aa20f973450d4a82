import { environmentKey } from '../../../contract/environment.js';
import type { RequestHandler } from 'express';
import { FairQueue, NotBegun, type FairQueueLimits } from '../../../runtime/fair-queue.js';
import { HttpFailure } from '../http-failure.js';
import { isHeavy } from '../operations.js';
import { requestCallerOf } from '../request-context.js';
import { whenAnswered } from './when-answered.js';

/** Of one environment (docs/http.md 1.10). */
const LIMITS: FairQueueLimits = {
  runningMax: 8,
  runningPerKeyMax: 8,
  waitingPerKeyMax: 100,
  waitMsMax: 5_000,
};

const RETRY_AFTER_SECONDS = 1;

function refused(): HttpFailure {
  const message = `more than ${LIMITS.runningMax} heavy requests of this environment run at once; wait and try again`;
  const retryAfterSeconds = RETRY_AFTER_SECONDS;
  return new HttpFailure(429, 'too_many_requests', { message, retryAfterSeconds });
}

/** The queues of all environments that have a request in one. */
class HeavyQueues {
  readonly #queues = new Map<string, FairQueue>();

  queueOf(environment: string): FairQueue {
    const known = this.#queues.get(environment) ?? new FairQueue(LIMITS);
    this.#queues.set(environment, known);
    return known;
  }

  forgetIfIdle(environment: string): void {
    if (this.#queues.get(environment)?.isIdle === true) this.#queues.delete(environment);
  }
}

/**
 * Bounds how many heavy requests of an environment run at once; mounted behind everything that can
 * refuse a request, so that only work waits. A turn ends with the answer; for a client that left,
 * when its work has ended, because the databases may still be working for it until then.
 */
export function createHeavyQueue(): RequestHandler {
  const queues = new HeavyQueues();
  return async (request, response, next) => {
    if (!isHeavy(request)) {
      next();
      return;
    }
    const { environment, countedAs } = requestCallerOf(request);
    const name = environmentKey(environment);
    const left = new AbortController();
    const leave = (): void => left.abort();
    response.once('close', leave);
    try {
      const answered = (): Promise<void> =>
        new Promise((resolve) => {
          response.off('close', leave);
          whenAnswered(response, resolve);
          next();
        });
      await queues.queueOf(name).run(countedAs, answered, left.signal);
    } catch (error) {
      if (error instanceof NotBegun) throw refused();
      if (!left.signal.aborted) throw error;
      response.end();
    } finally {
      queues.forgetIfIdle(name);
    }
  };
}
