import type { InstantMs } from '../../../contract/instant.js';
import {
  bySourceOrder,
  effectiveOf,
  sourcesByFeature,
  standingSources,
} from './effective-entitlement.js';
import type { EffectiveEntitlement, EntitlementSource } from './entitlement.js';

/** What a customer may use of a feature, by all of its subscriptions (docs/domain.md 10.3). */
export type CustomerEntitlement<Source extends EntitlementSource = EntitlementSource> = {
  readonly featureId: string;
  /** Of the enabled sources; null where every source is disabled. */
  readonly effective: EffectiveEntitlement | null;
  /** Disabled ones too, in source order; those that another one replaces are left out. */
  readonly sources: readonly [Source, ...Source[]];
};

/**
 * Combines the sources of several subscriptions at an instant, by feature. A source replaces its
 * parent on its own subscription only; then all of them are combined by the rules of one
 * subscription (docs/domain.md 10.1).
 */
export function customerEntitlements<Source extends EntitlementSource>(
  ofSubscriptions: readonly (readonly Source[])[],
  atMs: InstantMs,
): readonly CustomerEntitlement<Source>[] {
  const standing = ofSubscriptions.flatMap((sources) => standingSources(sources, atMs));
  return sourcesByFeature(standing.toSorted(bySourceOrder)).map((sources) => {
    const [first, ...others] = sources.filter(({ isEnabled }) => isEnabled);
    return {
      featureId: sources[0].featureId,
      effective: first === undefined ? null : effectiveOf([first, ...others]),
      sources,
    };
  });
}
