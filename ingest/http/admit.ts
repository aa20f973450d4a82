import type { IncomingMessage } from 'node:http';
import type { Environment } from '../../contract/environment.js';
import { errorAnswer, type Answer } from './answer.js';
import type { RateLimit, RateState } from './rate-limit.js';

/** What is known of the holder of an API key. */
export type EventCaller = {
  readonly environment: Environment;
  readonly roles: readonly string[];
  readonly isTenantSuspended: boolean;
};

/** Where API keys are looked up; `sql/api-keys.ts` has the one that is used. */
export type ApiKeys = { readonly find: (apiKey: string) => Promise<EventCaller | null> };

export type Admission =
  | {
      readonly kind: 'admitted';
      readonly environment: Environment;
      readonly rate: RateState | null;
    }
  | {
      readonly kind: 'turned_away';
      readonly answer: Answer;
      /** Null when the caller is unknown, and without a limit. */
      readonly rate: RateState | null;
    };

/** The roles that may write events (api.md 1.11). */
const WRITING_ROLES: ReadonlySet<string> = new Set(['super_admin', 'all_writer', 'event_ingestor']);

function unauthorised(message: string): Admission {
  const answer = errorAnswer({ status: 401, code: 'permission_denied', message });
  return { kind: 'turned_away', answer, rate: null };
}

function forbiddenMessage(caller: EventCaller): string | null {
  if (caller.isTenantSuspended) return 'this tenant is suspended: its data can only be read';
  if (caller.roles.some((role) => WRITING_ROLES.has(role))) return null;
  return 'this API key may not write events: it needs the role event_ingestor or all_writer';
}

export type Admitting = { readonly apiKeys: ApiKeys; readonly rateLimit: RateLimit };

/**
 * Lets a request in: a known key (api.md 1.2), within the quota of its environment (1.10), with the
 * right to write. Requests are counted before the right is looked at, so that a caller without it
 * is bounded as well.
 */
export async function admit(request: IncomingMessage, admitting: Admitting): Promise<Admission> {
  const apiKey = request.headers['x-api-key'];
  if (typeof apiKey !== 'string' || apiKey === '') {
    return request.headers.authorization === undefined
      ? unauthorised('no credentials: send your API key in the header x-api-key')
      : unauthorised('bearer tokens are not accepted here: send an API key in x-api-key');
  }
  const caller = await admitting.apiKeys.find(apiKey);
  if (caller === null) {
    return unauthorised('this API key is unknown, expired or revoked: use a valid one');
  }
  const { environment } = caller;
  const rate = await admitting.rateLimit.take(
    `${environment.tenantId}|${environment.environmentId}`,
  );
  if (rate !== null && !rate.isAllowed) {
    const answer = errorAnswer({
      status: 429,
      code: 'too_many_requests',
      message: 'too many event requests of this environment: wait, and send events in bulk',
      retryAfterSeconds: rate.resetSeconds,
    });
    return { kind: 'turned_away', answer, rate };
  }
  const message = forbiddenMessage(caller);
  if (message === null) return { kind: 'admitted', environment, rate };
  const answer = errorAnswer({ status: 403, code: 'permission_denied', message });
  return { kind: 'turned_away', answer, rate };
}
