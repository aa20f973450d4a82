import type { SeededRandom } from '../../../harness/seeded-random.js';
import { movedLocal, type Length } from '../billing-grid.js';
import { instantOf } from '../local-time.js';
import type { Range } from '../../usage-oracle/windows.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Zones with local times near which it is hard to be right: gaps, repeated times, month ends. */
const HARD_TIMES: readonly (readonly [string, readonly string[]])[] = [
  ['UTC', ['2024-02-29T12:07', '2026-01-31T00:00', '2099-12-30T23:59', '1999-12-31T00:00']],
  ['Europe/Berlin', ['2026-03-29T02:30', '2026-10-25T02:30', '2027-03-28T00:00']],
  ['America/New_York', ['2026-03-08T02:30', '2026-11-01T01:30', '2024-02-29T00:00']],
  ['Asia/Kathmandu', ['2026-01-31T00:00', '2024-02-29T05:45', '2025-12-31T23:59']],
  ['Asia/Kolkata', ['2026-05-31T00:00', '2026-08-30T05:30']],
  ['America/St_Johns', ['2026-03-08T02:30', '2026-11-01T01:30']],
  ['Australia/Lord_Howe', ['2026-04-05T01:45', '2026-10-04T02:15', '2026-10-04T00:00']],
  ['Pacific/Chatham', ['2026-04-05T03:15', '2026-09-27T03:15', '2026-09-27T00:00']],
  ['America/Sao_Paulo', ['2018-11-04T00:30', '2018-02-17T23:30', '2018-11-04T00:00']],
  ['Pacific/Apia', ['2011-12-30T00:00', '2011-12-31T10:00']],
];

/** A zone, and a local time in it that the invoices come near to. */
export type Scene = { readonly zone: string; readonly local: number };

export function randomScene(random: SeededRandom): Scene {
  const [zone, times] = random.pick(HARD_TIMES);
  if (random.chance(0.15)) {
    const days = random.below(3650);
    return { zone, local: Date.parse('2020-01-01') + days * DAY_MS + random.below(DAY_MS) };
  }
  const local = Date.parse(`${random.pick(times)}Z`);
  if (random.chance(0.6)) return { zone, local };
  const isMidnight = random.chance(0.5);
  return { zone, local: isMidnight ? Math.floor(local / DAY_MS) * DAY_MS : local + HOUR_MS };
}

/** A start so that a boundary falls on the scene, or that the scene is inside of a period. */
export function randomStart(random: SeededRandom, { zone, local }: Scene, length: Length): number {
  const times = -random.pick([0, 0, 1, 1, 2, 3]);
  const start = instantOf(zone, movedLocal(local, { length, times }));
  const roll = random.below(10);
  if (roll < 5) return start;
  // The second of two equal local times, where the clock repeats one.
  if (roll < 6) return start + random.pick([HOUR_MS, HOUR_MS / 2]);
  const days = length.period === 'DAILY' ? random.below(3) : random.between(0, 31);
  const shifted = start - days * DAY_MS + random.pick([0, 0, 0, 1, -1, HOUR_MS / 2]);
  return random.chance(0.1) ? shifted - random.below(DAY_MS) : shifted;
}

/** An instant inside of a stretch: anywhere, on half an hour, or at its edges. */
export function randomInstantIn(
  random: SeededRandom,
  { start, end }: { readonly start: number; readonly end: number },
): number {
  const anywhere = start + Math.floor(random.below(2 ** 30) * ((end - start) / 2 ** 30));
  const roll = random.below(8);
  if (roll === 0) return start;
  if (roll === 1) return end - 1;
  if (roll < 6) return anywhere;
  return Math.max(start, Math.floor(anywhere / (HOUR_MS / 2)) * (HOUR_MS / 2));
}

/** An instant of the rows to invoice, often one at which something else happens. */
export function randomInstant(
  random: SeededRandom,
  { periods, edges }: { readonly periods: readonly Range[]; readonly edges: readonly number[] },
): number {
  return edges.length > 0 && random.chance(0.3)
    ? random.pick(edges)
    : randomInstantIn(random, random.pick(periods));
}
