import type { InstantMs } from '../../../contract/instant.js';

/** When a cancellation is to take effect, and how (docs/domain.md 24). */
export type CancellationRequest = {
  readonly type: 'immediate' | 'end_of_period' | 'scheduled_date';
  /** Null when none is given. */
  readonly cancelAtMs: InstantMs | null;
};

/** What of a subscription decides whether, and when, it can be cancelled. */
export type Cancellable = {
  readonly startMs: InstantMs;
  readonly currentEndMs: InstantMs;
};

/** The instant of a cancellation; or the member that is wrong, with what is wrong with it. */
export type CancellationDate =
  | { readonly atMs: InstantMs; readonly problem: null }
  | { readonly atMs: null; readonly problem: { readonly member: string; readonly text: string } };

const wrong = (member: string, text: string): CancellationDate => ({
  atMs: null,
  problem: { member, text },
});
const at = (atMs: InstantMs): CancellationDate => ({ atMs, problem: null });

function immediateDate(
  { startMs }: Cancellable,
  cancelAtMs: InstantMs | null,
  now: InstantMs,
): CancellationDate {
  const atMs = cancelAtMs ?? now;
  if (atMs > now) {
    return wrong('cancel_at', 'is in the future: send cancellation_type scheduled_date');
  }
  return atMs < startMs ? wrong('cancel_at', 'must not be before start_date') : at(atMs);
}

/** The instant at which a cancellation takes effect (docs/domain.md 24.1, 24.2). */
export function cancellationDate(
  subscription: Cancellable,
  { type, cancelAtMs }: CancellationRequest,
  now: InstantMs,
): CancellationDate {
  switch (type) {
    case 'immediate':
      return immediateDate(subscription, cancelAtMs, now);
    case 'end_of_period':
      return cancelAtMs === null
        ? at(subscription.currentEndMs)
        : wrong('cancel_at', 'must be left out: the end of the running period decides');
    case 'scheduled_date':
      return cancelAtMs === null || cancelAtMs <= now
        ? wrong('cancel_at', 'must be given, and in the future')
        : at(cancelAtMs);
  }
}
