import { createHash, hash, randomInt } from 'node:crypto';

export type ApiKeyType = 'private_key' | 'publishable_key';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const RANDOM_CHARACTERS = 40;
const PREFIXES = { private_key: 'sk_', publishable_key: 'pk_' } as const;
const FORM = /^[sp]k_[A-Za-z0-9]{40}$/;

/** A new key: `sk_` or `pk_` and 40 random letters and digits, 238 bits (docs/http.md 1.2). */
export function createApiKey(type: ApiKeyType): string {
  const character = (): string => ALPHABET.charAt(randomInt(ALPHABET.length));
  return PREFIXES[type] + Array.from({ length: RANDOM_CHARACTERS }, character).join('');
}

/** Whether the text has the form of a key; other texts need no look-up. */
export function isApiKey(text: string): boolean {
  return FORM.test(text);
}

/** The SHA-256 of a key, which is stored instead of it. A random key needs no slow hash. */
export function hashApiKey(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}

/**
 * The same SHA-256 as a text, for maps. Every event request computes it, so it uses the one-call
 * `hash`, which takes a fifth of the time of `createHash`.
 */
export function hashNameOf(apiKey: string): string {
  return hash('sha256', apiKey, 'base64');
}

/**
 * The part of a key that may be shown: first five characters, `***`, last two (docs/http.md 1.2).
 */
export function displayIdOf(apiKey: string): string {
  return `${apiKey.slice(0, 5)}***${apiKey.slice(-2)}`;
}
