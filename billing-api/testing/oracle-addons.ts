import { DAY_MS } from '../../contract/instant.js';
import type { SeededRandom } from '../../load-tests/harness/seeded-random.js';
import {
  fixedItem,
  monthly,
  usageItem,
} from '../../load-tests/proofs/pricing-oracle/plain-subscription.js';
import type {
  EntitlementSource,
  LineItem,
  Price,
} from '../../load-tests/proofs/pricing-oracle/subscription.js';
import type { BillingUnderTest } from './billing-harness.js';
import { drawPrice, priceBody } from './oracle-prices.js';

/*
 * Random addons in two forms: written down for the independent oracle, and as the requests that
 * make the same ones through the interface.
 */

/** An addon on the subscription: a fee, and perhaps usage of a meter and more of its feature. */
export type DrawnAddon = {
  /** When each of its associations starts, after the start of the subscription. */
  readonly startsAfterMs: readonly number[];
  readonly fee: { readonly price: Price; readonly cadence: 'ADVANCE' | 'ARREAR' };
  /** What it charges for the meter of the line with this index of the plan. */
  readonly usage: { readonly line: number; readonly price: Price } | null;
  /** What it adds to the entitlement of that line of the plan, which has one. */
  readonly entitlement: { readonly line: number; readonly limit: string | null } | null;
};

/** A line of the plan: whether it has an entitlement, and whether its price has filter values. */
type PlanLine = { readonly isEntitled: boolean; readonly isNarrowed: boolean };

export function drawAddons(
  random: SeededRandom,
  lines: readonly PlanLine[],
): readonly DrawnAddon[] {
  const linesWhere = (isWanted: (line: PlanLine) => boolean): readonly number[] =>
    lines.flatMap((line, index) => (isWanted(line) ? [index] : []));
  const entitledLines = linesWhere(({ isEntitled }) => isEntitled);
  // Lines that count different events, begin at different times and share an allowance: the oracle
  // does not draw them (its README says what it leaves out).
  const meteredLines = linesWhere(({ isEntitled, isNarrowed }) => !(isEntitled && isNarrowed));
  return Array.from({ length: random.below(3) }, (): DrawnAddon => {
    const hasEntitlement = entitledLines.length > 0 && random.chance(0.6);
    return {
      startsAfterMs: Array.from({ length: random.between(1, 2) }, () =>
        random.pick([0, 0, 9.25 * DAY_MS, 40 * DAY_MS]),
      ),
      fee: { price: drawPrice(random), cadence: random.pick(['ADVANCE', 'ARREAR']) },
      usage:
        meteredLines.length > 0 && random.chance(0.5)
          ? { line: random.pick(meteredLines), price: drawPrice(random) }
          : null,
      entitlement: hasEntitlement
        ? { line: random.pick(entitledLines), limit: random.pick(['2', '7', null]) }
        : null,
    };
  });
}

/** For the oracle: the lines of the addons, after those of the plan. */
export function addonItems(
  addons: readonly DrawnAddon[],
  { start, lineCount }: { readonly start: number; readonly lineCount: number },
): readonly LineItem[] {
  const items = addons.flatMap(({ startsAfterMs, fee, usage }, index) =>
    startsAfterMs.flatMap((afterMs, time): LineItem[] => {
      const id = `addon${index}-${time}`;
      const place = { start: start + afterMs, length: monthly };
      const charge = { ...place, price: fee.price, cadence: fee.cadence };
      const feeItem = fixedItem(`${id}-fee`, charge);
      if (usage === null) return [feeItem];
      const metered = { ...place, price: usage.price, meterId: `meter${usage.line}` };
      return [feeItem, usageItem(`${id}-usage`, metered)];
    }),
  );
  return items.map((item, index) => ({ ...item, createdAt: lineCount + index }));
}

/** For the oracle: what the addons add to the entitlement of a line of the plan. */
export function addonSources(
  addons: readonly DrawnAddon[],
  { start, line, ofPlan }: { start: number; line: number; ofPlan: EntitlementSource },
): readonly EntitlementSource[] {
  return addons.flatMap(({ startsAfterMs, entitlement }, index) =>
    entitlement?.line !== line
      ? []
      : [
          {
            ...ofPlan,
            id: `entitlement-addon${index}`,
            createdAt: index + 1,
            scope: 'ADDON' as const,
            limit: entitlement.limit,
            associations: startsAfterMs.map((afterMs) => ({ start: start + afterMs, end: null })),
          },
        ],
  );
}

/** A line of the plan as it was made. */
type MadeLine = {
  readonly meterId: string;
  readonly featureId: string | null;
  readonly reset: EntitlementSource['reset'];
};

/** Makes the addons; `addons` of the subscription that is to be made. */
export async function makeDrawnAddons(
  api: BillingUnderTest,
  addons: readonly DrawnAddon[],
  given: { readonly prefix: string; readonly start: number; readonly lines: readonly MadeLine[] },
): Promise<readonly object[]> {
  const onSubscription: object[] = [];
  for (const [index, { startsAfterMs, fee, usage, entitlement }] of addons.entries()) {
    const body = { name: 'More', lookup_key: `${given.prefix}-addon-${index}` };
    const { id } = await api.make('/v1/addons', body);
    const owned = { addon_id: id, currency: 'usd' };
    const cadence = { invoice_cadence: fee.cadence };
    await api.make('/v1/prices', { ...owned, ...cadence, ...priceBody(fee.price) });
    if (usage !== null) {
      const meter = { meter_id: given.lines[usage.line]?.meterId };
      await api.make('/v1/prices', { ...owned, ...meter, ...priceBody(usage.price) });
    }
    if (entitlement !== null) {
      const line = given.lines[entitlement.line];
      await api.make('/v1/entitlements', {
        entity_id: id,
        feature_id: line?.featureId,
        usage_limit: entitlement.limit === null ? undefined : Number(entitlement.limit),
        usage_reset_period: line?.reset,
      });
    }
    for (const afterMs of startsAfterMs) {
      const startDate = new Date(given.start + afterMs).toISOString();
      onSubscription.push({ addon_id: id, start_date: startDate });
    }
  }
  return onSubscription;
}
