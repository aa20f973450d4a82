import { assertPresent, mustGet, zip } from '../../runtime/failure.js';
import type { LineUsage, UsageShare } from '../domain/usage/line-usage.js';
import { PROPERTY_KEY_LENGTH_MAX } from '../domain/price/property-filters.js';
import { NO_SPLIT, type UsagePart, type UsageSlicing } from '../domain/usage/aggregation-spec.js';
import type { MemberReader } from '../records/member-rules.js';
import type { SlicedUsage } from './read-usage.js';

/** How an invoice splits the usage of its lines (docs/domain.md 13.6). */
export type Grouping = {
  readonly hasSource: boolean;
  readonly hasFeature: boolean;
  /** Property keys, in the order of the request. */
  readonly properties: readonly string[];
};

/** The usage window of a line as a whole, by source, and by the requested properties. */
export type GroupingSlicing = 'whole' | 'by-source' | 'by-properties';

export const PROPERTY_PREFIX = 'properties.';
const GROUPS_MAX = 10;

function groupProblem(name: string): string | null {
  if (name === 'source' || name === 'feature_id') return null;
  const shown = name.slice(0, 60);
  if (!name.startsWith(PROPERTY_PREFIX) || name.length === PROPERTY_PREFIX.length) {
    return `${shown} must be source, feature_id or properties.<name>`;
  }
  return name.length > PROPERTY_PREFIX.length + PROPERTY_KEY_LENGTH_MAX
    ? `${shown}... must have a property name of at most ${PROPERTY_KEY_LENGTH_MAX} characters`
    : null;
}

/** Reads `group_by`: source, feature_id and properties.<name>; absent, it splits by nothing. */
export function readGroups(reader: MemberReader, names: readonly string[] = []): Grouping {
  const properties: string[] = [];
  for (const name of names) {
    const problem = groupProblem(name);
    reader.note('group_by', problem);
    const isProperty = problem === null && name.startsWith(PROPERTY_PREFIX);
    if (isProperty) properties.push(name.slice(PROPERTY_PREFIX.length));
  }
  if (names.length > GROUPS_MAX) reader.note('group_by', `must have at most ${GROUPS_MAX} names`);
  return {
    hasSource: names.includes('source'),
    hasFeature: names.includes('feature_id'),
    properties: [...new Set(properties)],
  };
}

/** No splits at all. */
export const NO_GROUPING: Grouping = { hasSource: false, hasFeature: false, properties: [] };

type LineGrouping = Grouping & { readonly featureId: string };

/** The slicings that an invoice shows of a line. A line is one feature, so that is no slicing. */
export function slicingsOfGrouping({
  hasSource,
  properties,
}: Grouping): Map<GroupingSlicing, UsageSlicing> {
  const slicings = new Map<GroupingSlicing, UsageSlicing>();
  slicings.set('whole', { windows: null, split: NO_SPLIT });
  if (hasSource) slicings.set('by-source', { windows: null, split: { ...NO_SPLIT, source: true } });
  if (properties.length > 0) {
    slicings.set('by-properties', { windows: null, split: { ...NO_SPLIT, properties } });
  }
  return slicings;
}

function shareOf({ windows: [figures] }: UsagePart): UsageShare {
  const { value, eventCount } = assertPresent(figures, 'the figures of a part of a line');
  return { usage: value, eventCount };
}

function groupedByOf(part: UsagePart, grouping: LineGrouping): Readonly<Record<string, string>> {
  const properties = zip(grouping.properties, part.texts).map(([key, text]) => [
    `${PROPERTY_PREFIX}${key}`,
    text,
  ]);
  const feature = grouping.hasFeature ? [['feature_id', grouping.featureId]] : [];
  return Object.fromEntries([...feature, ...properties]) as Readonly<Record<string, string>>;
}

/** The usage of one line and its splits, from the slicings of `slicingsOfGrouping`. */
export function usageOfGrouping(
  sliced: Pick<SlicedUsage<GroupingSlicing>, 'get'>,
  grouping: LineGrouping,
): Omit<LineUsage, 'buckets' | 'intervals'> {
  const { hasSource, hasFeature, properties } = grouping;
  const whole = mustGet(sliced, 'whole', 'the usage of a line');
  const sources = hasSource ? mustGet(sliced, 'by-source', 'the sources of a line') : [];
  const hasProperties = properties.length > 0;
  // Without properties the line as a whole is the only group, that of its feature.
  const groups = hasProperties ? mustGet(sliced, 'by-properties', 'the groups of a line') : whole;
  const isGrouped = hasFeature || hasProperties;
  const used = groups.filter((part) => isGrouped && shareOf(part).eventCount > 0);
  return {
    ...shareOf(assertPresent(whole[0], 'the usage of a line')),
    bySource: sources.map((part) => ({ ...shareOf(part), source: part.source })),
    byGrouping: used.map((part) => ({
      ...shareOf(part),
      groupedBy: groupedByOf(part, grouping),
    })),
  };
}
