import { LRUCache } from 'lru-cache';
import { MINUTE_MS } from '../../../contract/instant.js';

/** Wrong passwords of one account before it has to wait; a person seldom mistypes more often. */
const GUESSES_MAX = 10;
/** So that at most 960 passwords a day are tried on an account, wherever they come from. */
const WINDOW_MS = 15 * MINUTE_MS;
/** At most about 10 MB together. Beyond it, what was not used longest is forgotten. */
const ACCOUNTS_MAX = 50_000;

type Kept = {
  readonly wrong: LRUCache<string, Guesses>;
  readonly known: LRUCache<string, true>;
};

type Guesses = { readonly count: number; readonly since: number };

/** Whose password is tried, and from where. */
export type Guess = { readonly email: string; readonly clientAddress: string };

/**
 * Bounds the passwords that are tried on one account, whether it exists or not, by any number of
 * client addresses together. An address from which the account signed in before is counted by
 * itself, so that a stranger who guesses keeps nobody from signing in where he usually does. Each
 * process counts for itself.
 */
export class PasswordGuesses {
  /** Made by the first sign-in: its room is taken at once. */
  #kept: Kept | null = null;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Seconds after which the next password may be tried; 0 for at once. */
  waitSeconds(guess: Guess): number {
    const guesses = this.#caches.wrong.get(this.#keyOf(guess));
    if (guesses === undefined || guesses.count < GUESSES_MAX) return 0;
    return Math.max(0, Math.ceil((guesses.since + WINDOW_MS - this.now()) / 1000));
  }

  /** Counts an attempt before it is checked, so that many at once are bounded too. */
  begin(guess: Guess): void {
    const key = this.#keyOf(guess);
    const guesses = this.#caches.wrong.get(key);
    const isRecent = guesses !== undefined && this.now() - guesses.since < WINDOW_MS;
    this.#caches.wrong.set(
      key,
      isRecent ? { ...guesses, count: guesses.count + 1 } : { count: 1, since: this.now() },
    );
  }

  /** Forgets the wrong attempts of an account that has signed in with the right password. */
  noteRight(guess: Guess): void {
    this.#caches.wrong.delete(this.#keyOf(guess));
    this.#caches.known.set(pairOf(guess), true);
    this.#caches.wrong.delete(this.#keyOf(guess));
  }

  get #caches(): Kept {
    this.#kept ??= {
      wrong: new LRUCache({ max: ACCOUNTS_MAX }),
      known: new LRUCache({ max: ACCOUNTS_MAX }),
    };
    return this.#kept;
  }

  #keyOf(guess: Guess): string {
    const pair = pairOf(guess);
    return this.#caches.known.has(pair) ? pair : accountOf(guess);
  }
}

function accountOf({ email }: Guess): string {
  return email.toLowerCase();
}

function pairOf(guess: Guess): string {
  return `${accountOf(guess)}|${guess.clientAddress}`;
}
