import { hash } from 'node:crypto';

/**
 * The first 128 bits of the SHA-256 of a text, in hexadecimal digits. Event ids and payloads are
 * stored and compared by this hash; it is cryptographic, so that no sender can make two texts
 * collide.
 */
export function hashText(text: string): string {
  return hash('sha256', text).slice(0, 32);
}
