import type { AggregationType } from '../../contract/aggregation.js';
import type { Decimal } from '../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../contract/instant.js';
import { assertPresent, zip } from '../../runtime/failure.js';
import {
  isSplit,
  NO_SPLIT,
  type Figures,
  type UsagePart,
  type AggregationSpec,
  type UsageSplit,
  type UsageSlicing,
} from '../domain/usage/aggregation-spec.js';
import { invalid, type Refusal } from '../records/refusal.js';
import type { UsageQuery } from './read-usage.js';
import { CELLS_MAX } from './store/cell-query.js';

/** Keeps an answer below a few tens of megabytes. */
const RESULTS_MAX = 100_000;

export type UsageResult = {
  readonly window: Interval;
  /** Name to text (`source`, `properties.region`); null when nothing splits the answer. */
  readonly group: Readonly<Record<string, string>> | null;
  readonly value: Decimal;
};

/** What both usage endpoints answer. */
export type UsageAnswer = {
  readonly eventName: string;
  readonly type: AggregationType;
  readonly value: Decimal;
  readonly unreadableCount: number;
  readonly results: readonly UsageResult[];
  readonly dataUntil: InstantMs | null;
};

/** The whole range, and the rows of `results`. */
export type AnswerSlicing = 'whole' | 'results';

export type AnswerQuery = UsageQuery<AnswerSlicing> & {
  /** How `results` is split. */
  readonly split: UsageSplit;
};

/** The slicings of an answer; without windows and split it has no `results`. */
export function slicingsOfAnswer(
  windows: readonly Interval[] | null,
  split: UsageSplit,
): ReadonlyMap<AnswerSlicing, UsageSlicing> {
  const slicings = new Map<AnswerSlicing, UsageSlicing>();
  slicings.set('whole', { windows: null, split: NO_SPLIT });
  if (windows !== null || isSplit(split)) slicings.set('results', { windows, split });
  return slicings;
}

/** The figures of the whole range without a split. */
export function wholeOf(parts: readonly UsagePart[] | undefined): Figures {
  return assertPresent(parts?.[0]?.windows[0], 'the figures of a whole range');
}

function groupOf(part: UsagePart, split: UsageSplit, groupBy: string | null): UsageResult['group'] {
  if (!isSplit(split)) return null;
  const properties = zip(split.properties, part.texts).map(([key, text]) => [
    `properties.${key}`,
    text,
  ]);
  return Object.fromEntries([
    ...(split.source ? [['source', part.source]] : []),
    ...(split.group && groupBy !== null ? [[`properties.${groupBy}`, part.group]] : []),
    ...properties,
  ]) as Readonly<Record<string, string>>;
}

/** The rows of `results` in the order of time, then group. */
export function resultsOf(
  parts: readonly UsagePart[],
  split: UsageSplit,
  groupBy: string | null,
): readonly UsageResult[] | Refusal {
  const results = parts.flatMap((part) => {
    const group = groupOf(part, split, groupBy);
    return part.windows.map(({ window, value }) => ({ window, group, value }));
  });
  if (results.length <= RESULTS_MAX) {
    return results.sort((left, right) => left.window.startMs - right.window.startMs);
  }
  const member = isSplit(split) ? 'group_by' : 'window_size';
  return invalid({
    [member]: `the answer would have more than ${RESULTS_MAX} results; narrow the query`,
  });
}

/** Refuses more cells than one reading holds. */
export function tooManyCells(spec: Pick<AggregationSpec, 'buckets'>): Refusal {
  const member = spec.buckets === null ? 'group_by' : 'bucket_size';
  return invalid({
    [member]: `there are more than ${CELLS_MAX} groups and windows; narrow the query`,
  });
}
