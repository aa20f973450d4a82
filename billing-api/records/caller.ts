import type { Environment } from '../../contract/environment.js';

/** A repeatable request in progress: the claim on its Idempotency-Key (docs/http.md 1.9). */
export type IdempotencyClaim = { readonly key: string; readonly claimId: string };

/** The environment and the user on whose behalf an operation runs, and with which request. */
export type Caller = {
  readonly environment: Environment;
  readonly userId: string;
  /** Id of the API key; null when the caller came with a token. */
  readonly apiKeyId: string | null;
  /** The X-Request-ID of the answer. */
  readonly requestId: string;
  /** Null when the request carries no Idempotency-Key. */
  readonly claim: IdempotencyClaim | null;
};
