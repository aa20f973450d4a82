import type { InstantMs, Interval } from '../../contract/instant.js';
import type { MeterFilter } from '../../contract/meter.js';
import type { Environment } from '../../contract/environment.js';
import { assertPresent } from '../../runtime/failure.js';
import { aggregateUsage } from '../domain/usage/aggregate-usage.js';
import {
  areCellsAdditive,
  type CellSeries,
  type UsagePart,
  type AggregationSpec,
  type UsageSplit,
  type UsageSlicing,
} from '../domain/usage/aggregation-spec.js';
import type { UsageCustomers, UsageQuestion, UsageSubject } from './store/usage-question.js';
import type { UsageStore } from './store/usage-store.js';

/** What one reader wants to see of one meter or made-up rule. */
export type UsageQuery = {
  readonly subject: UsageSubject;
  readonly scope: AggregationSpec;
  readonly narrowedBy: readonly MeterFilter[];
  /** Sources that count; null for all. */
  readonly sources: readonly string[] | null;
  /** Views that split by properties split by the same ones. */
  readonly views: readonly UsageSlicing[];
};

export type UsageOwner = {
  readonly environment: Environment;
  readonly customers: UsageCustomers;
};

/** A question to the store, and which views its cells are for. */
type Planned = { readonly question: UsageQuestion; readonly views: readonly number[] };

/** A slot before the first window, for what a meter that never resets counted earlier. */
const HISTORY_MS: InstantMs = 0;

/** Where intervals begin, or end without another that begins there, but for the last end. */
function boundsOf(intervals: readonly Interval[]): readonly InstantMs[] {
  const bounds: InstantMs[] = [];
  let endedMs: InstantMs | null = null;
  for (const { startMs, endMs } of intervals) {
    if (endedMs !== null && endedMs !== startMs) bounds.push(endedMs);
    bounds.push(startMs);
    endedMs = endMs;
  }
  return bounds;
}

/**
 * Two ascending lists as one, each instant once. Mostly the ends of a range are looked for among
 * the minutes of a month, which have them: then that list is the answer.
 */
function merged(left: readonly InstantMs[], right: readonly InstantMs[]): readonly InstantMs[] {
  const [long, short] = left.length > right.length ? [left, right] : [right, left];
  if (short.length < 8 && short.every((bound) => long.includes(bound))) return long;
  const all: InstantMs[] = [];
  let [atLeft, atRight] = [0, 0];
  while (atLeft < left.length || atRight < right.length) {
    const next = Math.min(left[atLeft] ?? Infinity, right[atRight] ?? Infinity);
    all.push(next);
    if (left[atLeft] === next) atLeft += 1;
    if (right[atRight] === next) atRight += 1;
  }
  return all;
}

/** All bounds that lie before the end of all, each once, ascending. */
function commonBoundsOf(lists: readonly (readonly Interval[])[]): readonly InstantMs[] {
  const endOf = (list: readonly Interval[]): InstantMs => list.at(-1)?.endMs ?? -Infinity;
  const endMs = Math.max(...lists.map(endOf));
  return lists
    .map((list) => (endOf(list) < endMs ? [...boundsOf(list), endOf(list)] : boundsOf(list)))
    .reduce(merged, []);
}

/** The intervals that each view tells apart. */
function listsOf({ range }: AggregationSpec, views: readonly UsageSlicing[]) {
  const isWhole = views.some(({ windows }) => windows === null);
  const lists = new Set(views.flatMap(({ windows }) => (windows === null ? [] : [windows])));
  return [...(isWhole ? [[range]] : []), ...lists].filter((list) => list.length > 0);
}

/**
 * Where cells are cut in time. One slot serves a range as a whole, except that earlier changes of a
 * WEIGHTED_SUM count otherwise than those inside.
 */
function slotsOf(
  scope: AggregationSpec,
  views: readonly UsageSlicing[],
): readonly InstantMs[] | null {
  const { type, resetUsage, buckets } = scope;
  const hasHistory = resetUsage === 'NEVER';
  const hasWindows = views.some(({ windows }) => windows !== null);
  const isCut = buckets !== null || hasWindows || (hasHistory && type === 'WEIGHTED_SUM');
  if (!isCut) return null;
  const starts = buckets === null ? commonBoundsOf(listsOf(scope, views)) : boundsOf(buckets);
  return hasHistory && (starts[0] ?? 0) > HISTORY_MS ? [HISTORY_MS, ...starts] : starts;
}

/** The stretch from the first to the last instant that a view shows. */
function stretchOf(scope: AggregationSpec, views: readonly UsageSlicing[]): Interval {
  const lists = listsOf(scope, views);
  if (lists.length === 0) return scope.range;
  return {
    startMs: Math.min(...lists.map(([first]) => first?.startMs ?? Infinity)),
    endMs: Math.max(...lists.map((list) => list.at(-1)?.endMs ?? -Infinity)),
  };
}

function unionOf(splits: readonly UsageSplit[]): UsageSplit {
  return {
    source: splits.some(({ source }) => source),
    group: splits.some(({ group }) => group),
    properties: splits.find(({ properties }) => properties.length > 0)?.properties ?? [],
  };
}

function questionOf(ask: UsageQuery, views: readonly UsageSlicing[]): UsageQuestion {
  const { subject, scope, narrowedBy, sources } = ask;
  const hasHistory = scope.resetUsage === 'NEVER';
  const split = unionOf(views.map((view) => view.split));
  const cutsByGroup = scope.buckets !== null && scope.hasGroups;
  const { startMs, endMs } = stretchOf(scope, views);
  return {
    subject,
    window: { startMs: hasHistory ? HISTORY_MS : startMs, endMs },
    narrowedBy,
    sources,
    slots: slotsOf(scope, views),
    split: { ...split, group: split.group || cutsByGroup },
    isFirstSlotOnly: hasHistory,
  };
}

/**
 * Cells that add up are read once, cut as finely as any view needs, so that all views of an answer
 * tell the same; different texts are counted anew for every view.
 */
function plan(ask: UsageQuery): readonly Planned[] {
  if (!areCellsAdditive(ask.scope.type)) {
    return ask.views.map((view, index) => ({ question: questionOf(ask, [view]), views: [index] }));
  }
  return [{ question: questionOf(ask, ask.views), views: [...ask.views.keys()] }];
}

/** What a reading of these asks puts to the store. */
export function questionsOf(asks: readonly UsageQuery[]): readonly UsageQuestion[] {
  return asks.flatMap(plan).map(({ question }) => question);
}

/** The store calls the only slot of a question 0. */
function placed(found: readonly CellSeries[], { scope }: UsageQuery, { slots }: UsageQuestion) {
  if (slots !== null || scope.resetUsage === 'NEVER') return found;
  return found.map((series) => ({ ...series, slots: series.slots.map(() => scope.range.startMs) }));
}

/**
 * The rows of every view of every ask, from one reading of the usage tables: the only way in which
 * usage endpoints, analytics and invoices come to a number.
 * @returns null when there are more rows than an answer could hold.
 * @throws DependencyError when ClickHouse fails.
 */
export async function readUsage(
  store: UsageStore,
  whose: UsageOwner,
  asks: readonly UsageQuery[],
): Promise<readonly (readonly (readonly UsagePart[])[])[] | null> {
  const plans = asks.map(plan);
  const questions = plans.flat().map(({ question }) => question);
  const answers = await store.read({ ...whose, questions });
  if (answers === null) return null;
  let next = 0;
  return asks.map((ask, index) => {
    const views: (readonly UsagePart[])[] = [];
    for (const planned of assertPresent(plans[index], 'the plan of an ask')) {
      const found = placed(answers[next] ?? [], ask, planned.question);
      next += 1;
      for (const place of planned.views) {
        const view = assertPresent(ask.views[place], 'a view of an ask');
        views[place] = aggregateUsage(ask.scope, view, found);
      }
    }
    return views;
  });
}
