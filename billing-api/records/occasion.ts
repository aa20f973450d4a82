import type { Environment } from '../../contract/environment.js';
import type { InstantMs } from '../../contract/instant.js';

/** A repeatable request in progress: the claim on its Idempotency-Key (docs/http.md 1.9). */
export type IdempotencyClaim = { readonly key: string; readonly claimId: string };

/** A request, and the user on whose behalf it is made. */
export type RequestActor = {
  readonly kind: 'request';
  readonly userId: string;
  /** Id of the API key; null when the caller came with a token. */
  readonly apiKeyId: string | null;
  /** The X-Request-ID of the answer. */
  readonly requestId: string;
  /** Null when the request carries no Idempotency-Key. */
  readonly claim: IdempotencyClaim | null;
};

/** What happens by itself, when it is due: `renewals`, and which run of it. */
export type JobActor = { readonly kind: 'job'; readonly job: string; readonly runId: string };

/** Whoever administers the installation, with the verbs of the command line. */
export type OperatorActor = { readonly kind: 'operator'; readonly name: string };

/** Who changes something. The audit trail says what it is (docs/http.md 15). */
export type Actor = RequestActor | JobActor | OperatorActor;

/** Where something is read, and at which instant. */
export type Reading = {
  readonly environment: Environment;
  /**
   * The instant at which it happens, such as that at which a job was due. Absent: what the clock of
   * the environment shows (docs/domain.md 1).
   */
  readonly at?: InstantMs | undefined;
};

/** Where and when an operation runs, and on whose behalf. */
export type Occasion<By extends Actor = Actor> = Reading & { readonly actor: By };

/** The user on whose behalf an actor works; null for a job and an operator. */
export function ownUserOf(actor: Actor): string | null {
  return actor.kind === 'request' ? actor.userId : null;
}

/**
 * `created_by` and `updated_by` of what an actor writes (docs/http.md 1.4): the id of the user,
 * `job:renewals` or `operator:ada`.
 */
export function authorOf(actor: Actor): string {
  switch (actor.kind) {
    case 'request':
      return actor.userId;
    case 'job':
      return `job:${actor.job}`;
    case 'operator':
      return `operator:${actor.name}`;
  }
}
