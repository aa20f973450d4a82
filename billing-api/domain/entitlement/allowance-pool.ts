import { ZERO, maxOf, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';

/** A line that shares the allowance of a reset window: its events, its time, the usage before. */
export type PoolDraw = {
  /** Equal for lines that count the same events. */
  readonly stream: string;
  /** The usage window of the line. */
  readonly line: Interval;
  /** Usage of these events in the reset window, before the line begins. */
  readonly before: Decimal;
};

/** The usage of one set of events in the reset window, up to an instant. */
type Stream = { readonly untilMs: InstantMs; readonly used: Decimal };

/**
 * One reset window of an allowance that several lines may share (docs/domain.md 10.2). Lines that
 * count the same events are one stream, so that an event is in it once.
 */
export type AllowancePool = { readonly streams: ReadonlyMap<string, Stream> };

/** Before the first line: for each set of events, the usage before the earliest line of it. */
export function openPool(draws: readonly PoolDraw[]): AllowancePool {
  const streams = new Map<string, Stream>();
  for (const { stream, line, before } of draws) {
    const untilMs = streams.get(stream)?.untilMs ?? Infinity;
    if (line.startMs < untilMs) streams.set(stream, { untilMs: line.startMs, used: before });
  }
  return { streams };
}

/**
 * What has been used before a line: its own events before it begins, and those of all others as
 * far as the lines before it have counted them.
 */
export function usedBefore({ streams }: AllowancePool, { stream, before }: PoolDraw): Decimal {
  const others = [...streams].filter(([name]) => name !== stream);
  return others.reduce((sum, [, { used }]) => sum.plus(used), before);
}

/**
 * The same for a line of a meter that never resets. Its usage contains all of the history, also
 * that of lines which have ended, so only lines that exist at the same time share with it.
 */
export function lifetimeUsedBefore({ streams }: AllowancePool, draw: PoolDraw): Decimal {
  const existing = [...streams].filter(([, { untilMs }]) => untilMs > draw.line.startMs);
  return usedBefore({ streams: new Map(existing) }, draw);
}

/** After a line: its events are counted to its end, or as far as an earlier line counted them. */
export function poolAfter(pool: AllowancePool, draw: PoolDraw, usage: Decimal): AllowancePool {
  const counted = pool.streams.get(draw.stream);
  if (counted !== undefined && counted.untilMs > draw.line.endMs) return pool;
  const stream = { untilMs: draw.line.endMs, used: draw.before.plus(usage) };
  return { streams: new Map(pool.streams).set(draw.stream, stream) };
}

/** The part of a limit that is not used; 0 when more is used. */
export function freeOf(limit: Decimal, used: Decimal): Decimal {
  return maxOf(ZERO, limit.minus(used));
}

/**
 * The part of a usage that is billed: max(0, T − L) − max(0, B − L) with L the limit, B the usage
 * before and T = B + usage. For a usage of 0 or more this is usage − min(free, usage).
 */
export function billedOf(limit: Decimal, before: Decimal, usage: Decimal): Decimal {
  const until = before.plus(usage);
  return maxOf(ZERO, until.minus(limit)).minus(maxOf(ZERO, before.minus(limit)));
}
