import { ZERO, type Decimal } from '../../contract/decimal.js';
import type { GroupedUsage, LineUsage, SourceUsage } from '../domain/invoice/invoice.js';
import { PROPERTY_KEY_LENGTH_MAX } from '../domain/property-filters.js';
import { totalOf, type UsageCount } from '../store/usage.js';
import type { MemberReader } from './member-rules.js';

/** How an invoice splits the usage of its lines (domain.md 13.6). */
export type Grouping = {
  readonly hasSource: boolean;
  readonly hasFeature: boolean;
  /** Property keys, in the order of the request. */
  readonly properties: readonly string[];
};

const PROPERTY_PREFIX = 'properties.';
const GROUPS_MAX = 10;

function groupProblem(name: string): string | null {
  if (name === 'source' || name === 'feature_id') return null;
  const shown = name.slice(0, 60);
  if (!name.startsWith(PROPERTY_PREFIX) || name.length === PROPERTY_PREFIX.length) {
    return `${shown} is not source, feature_id or properties.<name>`;
  }
  return name.length > PROPERTY_PREFIX.length + PROPERTY_KEY_LENGTH_MAX
    ? `${shown}... is a property name of more than ${PROPERTY_KEY_LENGTH_MAX} characters`
    : null;
}

/** Reads `group_by`: source, feature_id and properties.<name>. */
export function readGroups(reader: MemberReader, names: readonly string[]): Grouping {
  const properties: string[] = [];
  for (const name of names) {
    const problem = groupProblem(name);
    reader.note('group_by', problem);
    const isProperty = problem === null && name.startsWith(PROPERTY_PREFIX);
    if (isProperty) properties.push(name.slice(PROPERTY_PREFIX.length));
  }
  if (names.length > GROUPS_MAX) reader.note('group_by', `has more than ${GROUPS_MAX} names`);
  return {
    hasSource: names.includes('source'),
    hasFeature: names.includes('feature_id'),
    properties: [...new Set(properties)],
  };
}

/** Adds up counts that share a name. */
function sumBy(
  counts: readonly UsageCount[],
  nameOf: (count: UsageCount) => string,
): ReadonlyMap<string, { readonly usage: Decimal; readonly example: UsageCount }> {
  const sums = new Map<string, { usage: Decimal; example: UsageCount }>();
  for (const count of counts) {
    const name = nameOf(count);
    const sum = sums.get(name);
    sums.set(name, { usage: (sum?.usage ?? ZERO).plus(count.count), example: count });
  }
  return sums;
}

function bySource(counts: readonly UsageCount[]): readonly SourceUsage[] {
  return [...sumBy(counts, (count) => count.source)].map(([source, { usage }]) => ({
    source,
    usage,
    eventCount: usage.toNumber(),
  }));
}

type LineGrouping = Grouping & { readonly featureId: string };

function byGrouping(counts: readonly UsageCount[], grouping: LineGrouping): GroupedUsage[] {
  const sums = sumBy(counts, (count) => JSON.stringify(count.texts));
  return [...sums.values()].map(({ usage, example }) => ({
    usage,
    eventCount: usage.toNumber(),
    groupedBy: {
      ...(grouping.hasFeature ? { feature_id: grouping.featureId } : {}),
      ...Object.fromEntries(
        grouping.properties.map((key, index) => [
          `${PROPERTY_PREFIX}${key}`,
          example.texts[index] ?? '',
        ]),
      ),
    },
  }));
}

/** The usage of one line out of its counts, split as asked. */
export function usageOfLine(counts: readonly UsageCount[], grouping: LineGrouping): LineUsage {
  const usage = totalOf(counts);
  const isGrouped = grouping.hasFeature || grouping.properties.length > 0;
  return {
    usage,
    eventCount: usage.toNumber(),
    bySource: grouping.hasSource ? bySource(counts) : [],
    byGrouping: isGrouped ? byGrouping(counts, grouping) : [],
  };
}
