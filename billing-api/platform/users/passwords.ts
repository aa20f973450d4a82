import { randomBytes, randomInt } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import PQueue from 'p-queue';
import { NotBegun } from '../../../runtime/fair-queue.js';

export type Passwords = {
  /** Argon2id with a salt of its own, in the PHC form. */
  readonly hash: (password: string) => Promise<string>;
  /**
   * Whether the password belongs to the hash. Null, for somebody unknown, takes as long as a wrong
   * password, so that time does not tell who has an account.
   */
  readonly verify: (hash: string | null, password: string) => Promise<boolean>;
};

/** Of the cores that answer everything else. A hash takes about 0.05 s and 19 MB. */
const AT_A_TIME = 2;
/** What waits then is answered within about 2 s. */
const WAITING_MAX = 64;
const RETRY_AFTER_SECONDS = 2;

/** 19 MiB, 2 passes, 1 lane: the first choice of OWASP for Argon2id (2025). */
const COST = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };

/** Hashes and checks passwords, a few at a time, on threads beside the event loop. */
export function createPasswords(): Passwords {
  const queue = new PQueue({ concurrency: AT_A_TIME });
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    if (queue.size >= WAITING_MAX) throw new NotBegun('waited', RETRY_AFTER_SECONDS);
    return queue.add(work);
  };
  let nobody: string | null = null;
  return {
    hash: (password) => inTurn(() => hash(password, COST)),
    verify: (known, password) =>
      inTurn(async () => {
        // The hash of a password that nobody has; one is enough for as long as the process runs.
        nobody ??= await hash(randomBytes(32).toString('base64'), COST);
        const isRight = await verify(known ?? nobody, password);
        return isRight && known !== null;
      }),
  };
}

const PASSWORD_CHARACTERS = 20;
/** Without characters that look alike, because a person may have to type them. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789';

/** 20 random letters and digits: 115 bits. */
export function createPassword(): string {
  const character = (): string => ALPHABET.charAt(randomInt(ALPHABET.length));
  return Array.from({ length: PASSWORD_CHARACTERS }, character).join('');
}
