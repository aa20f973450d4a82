import type { IncomingMessage } from 'node:http';
import type { Environment } from '../../contract/environment.js';
import { roleAllows, type Permission } from '../../contract/roles.js';
import {
  FAILED_TOO_OFTEN,
  type FailedAuthentication,
} from '../../runtime/http/failed-authentication.js';
import { errorAnswer, type Answer } from './answer.js';
import type { RateLimit, RateState } from '../../runtime/http/rate-limit.js';

/** What is known about the caller whom an API key identifies. */
export type EventCaller = {
  readonly environment: Environment;
  readonly roles: readonly string[];
  readonly isTenantSuspended: boolean;
};

export type ApiKeys = {
  /** Null for a key that is unknown, expired or revoked. */
  readonly find: (apiKey: string) => EventCaller | null | Promise<EventCaller | null>;
  /** Whether the last look-up of the key found it. */
  readonly wasFound: (apiKey: string) => boolean;
};

export type Admission =
  | {
      readonly kind: 'admitted';
      readonly environment: Environment;
      readonly rate: RateState | null;
    }
  | {
      readonly kind: 'rejected';
      readonly answer: Answer;
      /** Null when the caller is unknown or there is no limit. */
      readonly rate: RateState | null;
    };

const WRITE_EVENTS: Permission = { entity: 'event', access: 'write' };

function unauthenticated(message: string): Admission {
  const answer = errorAnswer({ status: 401, code: 'permission_denied', message });
  return { kind: 'rejected', answer, rate: null };
}

const UNKNOWN_KEY = unauthenticated('this API key is unknown, expired or revoked: use a valid one');

const FAILED_OFTEN: Admission = {
  kind: 'rejected',
  answer: errorAnswer({ status: 429, code: 'too_many_requests', ...FAILED_TOO_OFTEN }),
  rate: null,
};

/** The API key of a request, or why there is none. */
function apiKeyOf({ headers }: IncomingMessage): string | Admission {
  const apiKey = headers['x-api-key'];
  if (typeof apiKey === 'string' && apiKey !== '') return apiKey;
  return headers.authorization === undefined
    ? unauthenticated('no credentials: send your API key in the header x-api-key')
    : unauthenticated('bearer tokens are not accepted here: send an API key in x-api-key');
}

/**
 * Who sends a request. From an address that failed too often only keys that were right before are
 * looked up.
 */
function authenticate(
  request: IncomingMessage,
  { apiKeys, failedAuthentication }: AdmissionDependencies,
): EventCaller | Admission | Promise<EventCaller | Admission> {
  const apiKey = apiKeyOf(request);
  if (failedAuthentication.isExceeded(request)) {
    if (typeof apiKey !== 'string' || !apiKeys.wasFound(apiKey)) return FAILED_OFTEN;
  }
  const refused = (rejection: Admission): Admission => {
    failedAuthentication.note(request);
    return rejection;
  };
  if (typeof apiKey !== 'string') return refused(apiKey);
  const found = apiKeys.find(apiKey);
  if (!(found instanceof Promise)) return found ?? refused(UNKNOWN_KEY);
  return found.then((caller) => caller ?? refused(UNKNOWN_KEY));
}

function forbiddenMessage(caller: EventCaller): string | null {
  if (caller.isTenantSuspended) return 'this tenant is suspended: its data can only be read';
  if (caller.roles.some((role) => roleAllows(role, WRITE_EVENTS))) return null;
  return 'this API key may not write events: it needs the role event_ingestor or all_writer';
}

export type AdmissionDependencies = {
  readonly apiKeys: ApiKeys;
  readonly failedAuthentication: FailedAuthentication;
  readonly rateLimit: RateLimit;
};

function admitWithin(caller: EventCaller, rate: RateState | null): Admission {
  const { environment } = caller;
  if (rate !== null && !rate.isAllowed) {
    const answer = errorAnswer({
      status: 429,
      code: 'too_many_requests',
      message: 'too many event requests of this tenant: wait, or send events in bulk',
      retryAfterSeconds: rate.resetSeconds,
    });
    return { kind: 'rejected', answer, rate };
  }
  const message = forbiddenMessage(caller);
  if (message === null) return { kind: 'admitted', environment, rate };
  const answer = errorAnswer({ status: 403, code: 'permission_denied', message });
  return { kind: 'rejected', answer, rate };
}

function admitCaller(
  caller: EventCaller | Admission,
  { rateLimit }: AdmissionDependencies,
): Admission {
  if ('kind' in caller) return caller;
  return admitWithin(caller, rateLimit.take(caller.environment.tenantId));
}

/**
 * Admits a request whose API key is valid (docs/http.md 1.2), whose tenant is within its quota
 * (1.10), and whose caller may write events. A request counts towards the quota before the roles
 * are checked, so that callers who may not write are limited as well. A promise only where the key
 * must be looked up.
 */
export function admit(
  request: IncomingMessage,
  dependencies: AdmissionDependencies,
): Admission | Promise<Admission> {
  const caller = authenticate(request, dependencies);
  return caller instanceof Promise
    ? caller.then((known) => admitCaller(known, dependencies))
    : admitCaller(caller, dependencies);
}
