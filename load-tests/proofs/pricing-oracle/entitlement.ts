import { type Fraction } from '../usage-oracle/fraction.js';
import { exact, sum } from './exact.js';
import type { EntitlementSource, Feature } from './subscription.js';

type Reset = EntitlementSource['reset'];

/** What a meter is allowed in a reset window; `limit` null: unlimited. */
export type Allowance = { readonly limit: Fraction | null; readonly reset: Reset };

type Dates = { readonly start: number | null; readonly end: number | null };

function contains({ start, end }: Dates, instant: number): boolean {
  return (start === null || start <= instant) && (end === null || instant < end);
}

/** How often a source is in force at an instant: an addon once for each of its associations. */
function countAt(source: EntitlementSource, instant: number): number {
  if (!contains(source, instant)) return 0;
  if (source.scope !== 'ADDON') return 1;
  return source.associations.filter((association) => contains(association, instant)).length;
}

function byCreation(left: EntitlementSource, right: EntitlementSource): number {
  return left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1);
}

/**
 * The sources that count, as often as they do, the one created first first. One that is disabled
 * does not count, but what it replaces does not either.
 */
function countedSources(feature: Feature, instant: number): readonly EntitlementSource[] {
  const counted = feature.sources
    .toSorted(byCreation)
    .flatMap((source) => Array.from({ length: countAt(source, instant) }, () => source));
  const replaced = counted.map(({ parentId }) => parentId);
  return counted.filter(({ id, isEnabled }) => isEnabled && !replaced.includes(id));
}

/** The most frequent one; of equally frequent ones that of the source created first. */
function commonReset(sources: readonly EntitlementSource[]): Reset {
  const given = sources.map(({ reset }) => reset).filter((reset) => reset !== null);
  const timesOf = (reset: Reset): number => given.filter((each) => each === reset).length;
  return given.reduce<Reset>(
    (best, next) => (best === null || timesOf(next) > timesOf(best) ? next : best),
    null,
  );
}

/**
 * The allowance of a meter for a usage window that ends at `end`: the limits of all sources of all
 * its features added up; null when no enabled one counts (docs/domain.md 10.1, 10.2).
 */
export function allowanceOf(
  features: readonly Feature[],
  { meterId, end }: { readonly meterId: string; readonly end: number },
): Allowance | null {
  const sources = features
    .filter((feature) => feature.meterId === meterId)
    .flatMap((feature) => countedSources(feature, end - 1));
  if (sources.length === 0) return null;
  const limits = sources.map(({ limit }) => limit);
  const known = limits.filter((limit) => limit !== null);
  return {
    limit: known.length < limits.length ? null : sum(known.map(exact)),
    reset: commonReset(sources),
  };
}
