import { hash } from 'node:crypto';

/** First 128 bits of the SHA-256, in hexadecimal digits: no sender can make two texts collide. */
export function hashText(text: string): string {
  return hash('sha256', text).slice(0, 32);
}
