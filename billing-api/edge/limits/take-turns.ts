import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { FairQueue, NotBegun, type FairQueueLimits } from '../../../runtime/fair-queue.js';
import { takeTurn } from '../../../runtime/loop-turns.js';
import { HttpFailure } from '../http-failure.js';
import { isHeavy } from '../operations.js';
import { contextOf, requestCallerOf, tenantOf } from '../request-context.js';
import { whenAnswered } from './when-answered.js';

/** Of one tenant (docs/http.md 1.10). */
const LIMITS: FairQueueLimits = {
  runningMax: 8,
  runningPerKeyMax: 8,
  waitingPerKeyMax: 100,
  waitMsMax: 5_000,
};

const RETRY_AFTER_SECONDS = 1;

function refused(): HttpFailure {
  const message = `more than ${LIMITS.runningMax} heavy requests of this tenant run at once; wait and try again`;
  const retryAfterSeconds = RETRY_AFTER_SECONDS;
  return new HttpFailure(429, 'too_many_requests', { message, retryAfterSeconds });
}

/** The queues of all tenants that have a request in one. */
class HeavyQueues {
  readonly #queues = new Map<string, FairQueue>();

  queueOf(tenantId: string): FairQueue {
    const known = this.#queues.get(tenantId) ?? new FairQueue(LIMITS);
    this.#queues.set(tenantId, known);
    return known;
  }

  forgetIfIdle(tenantId: string): void {
    if (this.#queues.get(tenantId)?.isIdle === true) this.#queues.delete(tenantId);
  }
}

/** Takes turns in a queue, under a name. */
type Turn = {
  readonly queue: FairQueue;
  readonly key: string;
  readonly refused: () => HttpFailure;
};

/** A page with more records than this takes turns; it keeps the one thread for tens of ms. */
const SMALL_PAGE_MAX = 100;
/** Of all tenants in one process: while a page is made, the next one may be read. */
const PAGE_LIMITS: FairQueueLimits = {
  runningMax: 2,
  runningPerKeyMax: 1,
  waitingPerKeyMax: 100,
  waitMsMax: 30_000,
};

function pageRefused(): HttpFailure {
  const message = `pages of more than ${SMALL_PAGE_MAX} records are made one at a time for a tenant; wait and try again, or ask for a smaller limit`;
  const retryAfterSeconds = RETRY_AFTER_SECONDS;
  return new HttpFailure(429, 'too_many_requests', { message, retryAfterSeconds });
}

function isLargePage({ query, body }: Request): boolean {
  const { limit = query['limit'] } = (body ?? {}) as { readonly limit?: unknown };
  // A limit that is no number is refused later.
  return Number(limit) > SMALL_PAGE_MAX;
}

/** Runs the rest of a request when it is its turn, which ends with the answer. */
async function whenItsTurn(
  { queue, key, refused: refusal }: Turn,
  response: Response,
  next: NextFunction,
): Promise<void> {
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
    await queue.run(key, answered, left.signal);
  } catch (error) {
    if (error instanceof NotBegun) throw refusal();
    if (!left.signal.aborted) throw error;
    response.end();
  }
}

/**
 * Has every request wait for the turn of its tenant on the event loop. Bounds how many heavy
 * requests and large pages of a tenant run at once. Mounted behind everything that can refuse a
 * request, so that only work waits. A turn ends with the answer; for a client that left, when its
 * work has ended, because the databases may still be working for it until then.
 */
export function createTurns(): RequestHandler {
  const heavy = new HeavyQueues();
  const pages = new FairQueue(PAGE_LIMITS);
  return async (request, response, next) => {
    const { caller } = contextOf(request);
    await takeTurn(tenantOf(request));
    if (isHeavy(request)) {
      const { environment, queuesAs } = requestCallerOf(request);
      const { tenantId } = environment;
      const turn = { queue: heavy.queueOf(tenantId), key: queuesAs, refused };
      await whenItsTurn(turn, response, next).finally(() => heavy.forgetIfIdle(tenantId));
    } else if (caller !== null && isLargePage(request)) {
      const { tenantId } = caller.environment;
      await whenItsTurn({ queue: pages, key: tenantId, refused: pageRefused }, response, next);
    } else {
      next();
    }
  };
}
