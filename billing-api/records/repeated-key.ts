import { Refusal } from './refusal.js';

/**
 * The record that a request with the same `idempotency_key` has made before; refused when that
 * request asked for something else (docs/http.md 1.9).
 */
export function repeatedRecord<T>(
  record: T,
  { what, isSame }: { readonly what: string; readonly isSame: boolean },
): T | Refusal {
  if (isSame) return record;
  const problem = `this idempotency_key has made another ${what}: send what it was sent with, or another key`;
  return new Refusal('already_exists', problem, { idempotency_key: 'was sent with other members' });
}
