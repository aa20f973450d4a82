import { compareTexts } from '../../../contract/compare-texts.js';
import { type Decimal, ZERO } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { EffectiveEntitlement, EntitlementSource, UsageResetPeriod } from './entitlement.js';

/** Source order: by creation, then id by code units. */
export function bySourceOrder(left: EntitlementSource, right: EntitlementSource): number {
  const ages = left.createdAtMs - right.createdAtMs;
  return ages || compareTexts(left.entitlementId, right.entitlementId);
}

/**
 * The sources of a subscription that stand at an instant, disabled ones too, in source order. A
 * disabled source still replaces its parent: that is how a subscription gives up a feature. Outside
 * its dates it replaces nothing.
 */
export function standingSources<Source extends EntitlementSource>(
  sources: readonly Source[],
  atMs: InstantMs,
): readonly Source[] {
  const valid = sources.filter(({ validity }) => validity.startMs <= atMs && atMs < validity.endMs);
  const replaced = new Set(valid.map(({ parentEntitlementId }) => parentEntitlementId));
  return valid.filter(({ entitlementId }) => !replaced.has(entitlementId)).sort(bySourceOrder);
}

/** Sources by feature, in the order of the first source of each. */
export function sourcesByFeature<Source extends EntitlementSource>(
  sources: readonly Source[],
): readonly (readonly [Source, ...Source[]])[] {
  const byFeature = new Map<string, [Source, ...Source[]]>();
  for (const source of sources) {
    const others = byFeature.get(source.featureId);
    if (others === undefined) byFeature.set(source.featureId, [source]);
    else others.push(source);
  }
  return [...byFeature.values()];
}

/** Sum of the limits; null (unlimited) if one of them is unlimited. */
function limitOf(sources: readonly EntitlementSource[]): Decimal | null {
  let sum = ZERO;
  for (const { usageLimit } of sources) {
    if (usageLimit === null) return null;
    sum = sum.plus(usageLimit);
  }
  return sum;
}

/** The most frequent reset period; ties go to the source created first. */
function resetPeriodOf(sources: readonly EntitlementSource[]): UsageResetPeriod | null {
  const counts = new Map<UsageResetPeriod, number>();
  for (const { usageResetPeriod: period } of sources) {
    if (period === null) continue;
    // Absent means zero: the period was not met yet.
    counts.set(period, (counts.get(period) ?? 0) + 1);
  }
  let best: { readonly period: UsageResetPeriod; readonly count: number } | null = null;
  for (const [period, count] of counts) {
    if (best === null || count > best.count) best = { period, count };
  }
  return best?.period ?? null;
}

/** The combination of enabled sources of one feature, in source order. */
export function effectiveOf(
  sources: readonly [EntitlementSource, ...EntitlementSource[]],
): EffectiveEntitlement {
  const { featureId, featureType, meterId } = sources[0];
  const values = featureType === 'static' ? sources.map(({ staticValue }) => staticValue) : [];
  const texts = values.filter((text) => text !== null);
  return {
    featureId,
    featureType,
    meterId,
    usageLimit: limitOf(sources),
    isSoftLimit: sources.some(({ isSoftLimit }) => isSoftLimit),
    usageResetPeriod: resetPeriodOf(sources),
    staticValues: [...new Set(texts)],
  };
}

/**
 * What a subscription is entitled to at an instant (docs/domain.md 10.1): one entry per feature
 * that has an enabled source then, in the order of its first source. For a usage window the instant
 * is the last one before its end.
 */
export function effectiveEntitlements(
  sources: readonly EntitlementSource[],
  atMs: InstantMs,
): readonly EffectiveEntitlement[] {
  const enabled = standingSources(sources, atMs).filter(({ isEnabled }) => isEnabled);
  return sourcesByFeature(enabled).map(effectiveOf);
}
