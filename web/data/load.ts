import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';

/** How often everything that is shown was asked for again. */
const round = signal(0);

/** Reads everything that is shown once more, after a write; what is shown stays meanwhile. */
export function reload(): void {
  round.value += 1;
}

/** What is read from the server, as a screen shows it. */
export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: unknown; readonly retry: () => void }
  | {
      readonly state: 'ready';
      readonly value: T;
      /** What is shown is being read again. */
      readonly isReloading: boolean;
    };

type Outcome<T> = {
  readonly key: string;
  readonly turn: number;
  readonly value?: T;
  readonly error?: unknown;
};

/**
 * Reads again whenever `key` changes, or `reload` was called. An answer to an earlier key is
 * dropped.
 */
export function useLoad<T>(key: string, read: () => Promise<T>): Loaded<T> {
  const [outcome, setOutcome] = useState<Outcome<T> | null>(null);
  const turn = round.value;
  useEffect(() => {
    let isWanted = true;
    read().then(
      (value) => isWanted && setOutcome({ key, turn, value }),
      (error: unknown) => isWanted && setOutcome({ key, turn, error }),
    );
    return () => {
      isWanted = false;
    };
    // `read` is made anew with every rendering; `key` says what it reads.
  }, [key, turn]);
  if (outcome === null || outcome.key !== key) return { state: 'loading' };
  if ('error' in outcome) return { state: 'failed', error: outcome.error, retry: reload };
  const isReloading = outcome.turn !== turn;
  return { state: 'ready', value: outcome.value as T, isReloading };
}

export type Action = {
  readonly isRunning: boolean;
  readonly error: unknown;
  readonly run: () => void;
};

/** Something that a person does, once at a time. */
export function useAction(work: () => Promise<void>): Action {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = (): void => {
    if (isRunning) return;
    setRunning(true);
    setError(null);
    work()
      .catch(setError)
      .finally(() => setRunning(false));
  };
  return { isRunning, error, run };
}
