import { inject } from 'vitest';

/*
 * How strictly the time of another tenant is judged. At night it may at most double; beside other
 * tests a time says little, so there only a tenant that is kept waiting is noticed.
 */
const isNightly = inject('isNightly');

/** Rounds of questions, of which the median counts. */
export const ROUNDS = isNightly ? 31 : 9;

const FACTOR_MAX = isNightly ? 2 : 8;

/** An answer can be late by this much for no reason of ours. */
const JITTER_MS = isNightly ? 40 : 200;

/** How long the median answer to another tenant may take during an attack. */
export function longestMs(usualMs: number): number {
  return FACTOR_MAX * usualMs + JITTER_MS;
}
