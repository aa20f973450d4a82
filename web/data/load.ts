import { useCallback, useEffect, useState } from 'preact/hooks';

/** What is read from the server, as a screen shows it. */
export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: unknown; readonly retry: () => void }
  | {
      readonly state: 'ready';
      readonly value: T;
      readonly reload: () => void;
      /** What is shown is being read again. */
      readonly isReloading: boolean;
    };

type Outcome<T> = {
  readonly key: string;
  readonly turn: number;
  readonly value?: T;
  readonly error?: unknown;
};

/** Reads again whenever `key` changes. An answer to an earlier key is dropped. */
export function useLoad<T>(key: string, read: () => Promise<T>): Loaded<T> {
  const [outcome, setOutcome] = useState<Outcome<T> | null>(null);
  const [turn, setTurn] = useState(0);
  const again = useCallback(() => setTurn((last) => last + 1), []);
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
  if ('error' in outcome) return { state: 'failed', error: outcome.error, retry: again };
  const isReloading = outcome.turn !== turn;
  return { state: 'ready', value: outcome.value as T, reload: again, isReloading };
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
