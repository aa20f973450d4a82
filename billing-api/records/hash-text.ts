import { hash } from 'node:crypto';

/** First 128 bits of the SHA-256 as hexadecimal digits: as the aggregator hashes ids and texts. */
export function hashText(text: string): string {
  return hash('sha256', text).slice(0, 32);
}
