import { ZERO, maxOf, type Decimal } from '../../../contract/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';

/** A line that shares the allowance of a reset window: its events, its time, the usage before. */
export type PoolDraw = {
  /** Equal for lines that count the same events, where one line may replace another in time. */
  readonly stream: string;
  /** The usage window of the line. */
  readonly line: Interval;
  /** Usage of these events in the reset window, before the line begins. */
  readonly before: Decimal;
};

type Stream = { readonly untilMs: InstantMs; readonly used: Decimal };

/**
 * One reset window of an allowance that several lines may share (docs/domain.md 10.2): the usage so
 * far, in total and for each set of events, including the usage before the first line.
 */
export type AllowancePool = {
  readonly used: Decimal;
  readonly streams: ReadonlyMap<string, Stream>;
};

/** Before the first line: for each set of events, the usage before the earliest line of it. */
export function openPool(draws: readonly PoolDraw[]): AllowancePool {
  const streams = new Map<string, Stream>();
  for (const { stream, line, before } of draws) {
    const untilMs = streams.get(stream)?.untilMs ?? Infinity;
    if (line.startMs < untilMs) streams.set(stream, { untilMs: line.startMs, used: before });
  }
  const used = [...streams.values()].reduce((sum, stream) => sum.plus(stream.used), ZERO);
  return { used, streams };
}

/** Before a line; adds the usage between an earlier line of the same events and this one. */
export function poolBefore(pool: AllowancePool, draw: PoolDraw): AllowancePool {
  const stream = pool.streams.get(draw.stream);
  if (stream === undefined || draw.line.startMs < stream.untilMs) return pool;
  return { ...pool, used: pool.used.plus(draw.before).minus(stream.used) };
}

/**
 * Before a line of a meter that never resets. Its usage contains all of the history, also that of
 * lines which have ended, so only lines that exist at the same time share with it.
 */
export function lifetimePoolBefore(pool: AllowancePool, draw: PoolDraw): AllowancePool {
  const streams = new Map(
    [...pool.streams].filter(([, { untilMs }]) => untilMs > draw.line.startMs),
  );
  const used = [...streams.values()].reduce((sum, stream) => sum.plus(stream.used), ZERO);
  return { used, streams };
}

/** After a line: its usage is added. */
export function poolAfter(pool: AllowancePool, draw: PoolDraw, usage: Decimal): AllowancePool {
  const stream = { untilMs: draw.line.endMs, used: draw.before.plus(usage) };
  return {
    used: pool.used.plus(usage),
    streams: new Map(pool.streams).set(draw.stream, stream),
  };
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
