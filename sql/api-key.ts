import { createHash, hash, randomInt } from 'node:crypto';

export type ApiKeyType = 'private_key' | 'publishable_key';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const RANDOM_CHARACTERS = 40;
const PREFIXES = { private_key: 'sk_', publishable_key: 'pk_' } as const;
const FORM = /^[sp]k_[A-Za-z0-9]{40}$/;

/** A new key: `sk_` or `pk_` and 40 random letters and digits, 238 bits (api.md 1.2). */
export function createApiKey(type: ApiKeyType): string {
  const character = (): string => ALPHABET.charAt(randomInt(ALPHABET.length));
  return PREFIXES[type] + Array.from({ length: RANDOM_CHARACTERS }, character).join('');
}

/** Whether the text could be a key at all; spares a look-up. */
export function isApiKey(text: string): boolean {
  return FORM.test(text);
}

/**
 * What is stored instead of the key: its SHA-256. A key has no need of a slow hash: it cannot be
 * guessed.
 */
export function hashApiKey(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}

/**
 * The same SHA-256 as a text, for maps. Made in one call, a fifth of the cost: it is on the path of
 * every event request.
 */
export function hashNameOf(apiKey: string): string {
  return hash('sha256', apiKey, 'base64');
}

/** What may be shown of a key: first five characters, `***`, last two (api.md 1.2). */
export function displayIdOf(apiKey: string): string {
  return `${apiKey.slice(0, 5)}***${apiKey.slice(-2)}`;
}
