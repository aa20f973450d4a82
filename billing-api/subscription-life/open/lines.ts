import type { InstantMs } from '../../../contract/instant.js';
import { findMetersForUse } from '../../catalog/meters/meters-store.js';
import { findPriceUnitsForUse } from '../../catalog/price-units/price-units-store.js';
import { findPrices } from '../../catalog/prices/prices-store.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import { LINE_ITEMS } from '../../declarations/subscriptions/line-item.resource.js';
import { assertPresent, mustGet, zip } from '../../../runtime/failure.js';
import { billingLengthOf } from '../../domain/calendar/billing-length.js';
import type { PriceTerms } from '../../domain/price/price.js';
import { accept, invalid, isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { newAddedLines } from '../../subscriptions/lines/added-lines.js';
import { commitLines } from '../../subscriptions/lines/commit-lines.js';
import { termsOfPrice, type LineContext } from '../../subscriptions/lines/line-price.js';
import type { NewLine } from '../../subscriptions/lines/new-line.js';
import { newPlanLines } from '../../subscriptions/lines/override-lines.js';
import {
  inlineMeterIds,
  inlineUnitCodes,
  namedPriceIds,
} from '../../subscriptions/lines/requested-price.js';
import { newAddonLines, type HeldAddon } from './addons.js';
import { newPhaseLines, type IdentifiedPhase } from './phases.js';
import type { OpeningTerms, OwnParts } from './opening-terms.js';

/** The prices that match the subscription: those of its plan, and of each of its addons. */
type MatchingPrices = {
  readonly planPrices: readonly PriceRow[];
  readonly addons: readonly HeldAddon[];
};

/** What decides which prices and meters the lines of a subscription need. */
type LineTerms = Pick<OpeningTerms, 'currency' | 'billingPeriod' | 'billingPeriodCount'> &
  Pick<OwnParts, 'addedLines' | 'commitments'>;

/** A subscription that is to be, with the ids of its parts that are known before. */
type WantedLines = {
  readonly terms: OpeningTerms;
  readonly subscriptionId: string;
  readonly phases: readonly IdentifiedPhase[];
};

/** The lines of a subscription that is to be stored, with the meters of their prices. */
export type NewLines = {
  readonly lines: readonly NewLine[];
  readonly meters: LineContext['meters'];
};

/** Reads what the lines of a subscription need, and makes them. */
export async function findNewLines(
  unit: Unit,
  wanted: WantedLines,
  matching: MatchingPrices,
): Promise<NewLines> {
  const { terms, subscriptionId } = wanted;
  const request = { ...terms, ...terms.own };
  const context = await findLineContext(unit, { request, subscriptionId }, matching);
  const newLineId = () => unit.newId(LINE_ITEMS.idPrefix);
  const lines = accept(newSubscriptionLines({ ...wanted, newLineId }, matching, context));
  return { lines, meters: context.meters };
}

/** Reads the prices and meters that the lines of the subscription need. */
export async function findLineContext(
  { tx, now }: Unit,
  { request, subscriptionId }: { readonly request: LineTerms; readonly subscriptionId: string },
  { planPrices, addons }: MatchingPrices,
): Promise<LineContext> {
  const { currency, billingPeriod, billingPeriodCount, addedLines, commitments } = request;
  const requested = [...addedLines, ...commitments.flatMap(({ timeBuckets }) => timeBuckets)].map(
    ({ price }) => price,
  );
  const prices = await findPrices(tx, namedPriceIds(requested));
  const ofAddons = addons.flatMap((addon) => addon.prices);
  const rows = [...planPrices, ...ofAddons, ...prices.values()];
  const meterIds = rows.map((row) => row.meter_id).filter((id) => id !== null);
  const meters = await findMetersForUse(tx, [...meterIds, ...inlineMeterIds(requested)]);
  const units = await findPriceUnitsForUse(tx, inlineUnitCodes(requested));
  const terms = { currency, billingPeriod, billingPeriodCount, subscriptionId, now };
  return { ...terms, prices, meters, units };
}

/** The lines of the subscription in line order: of its plan, of its addons, then its own. */
function newSubscriptionLines(
  { terms, phases, newLineId }: WantedLines & { readonly newLineId: () => string },
  { planPrices, addons }: MatchingPrices,
  context: LineContext,
): readonly NewLine[] | Refusal {
  const ofPlan =
    phases.length === 0
      ? newPlanLines(planPrices, terms.overrides, context)
      : newPhaseLines(phases, { prices: planPrices, newLineId }, context);
  if (isRefusal(ofPlan)) return ofPlan;
  const [first, ...later] = isOfPhases(ofPlan) ? ofPlan : [ofPlan];
  const added = newAddedLines(terms.own.addedLines, context);
  if (isRefusal(added)) return added;
  const begun = [...assertPresent(first, 'the first lines'), ...newAddonLines(addons), ...added];
  const lines = commitPhases([begun, ...later], terms.own, context);
  if (isRefusal(lines)) return lines;
  const ordered = phases.length === 0 ? lines : inLineOrder(lines, newLineId);
  return linesRefusal(terms, lines, context.now) ?? ordered;
}

/** Lines with ids that sort in their order, since some name others by them. */
function inLineOrder(lines: readonly NewLine[], newLineId: () => string): readonly NewLine[] {
  const ids = lines.map(newLineId).sort();
  const numbered = zip(lines, ids);
  const idOf = new Map(numbered.map(([line, id]) => [line.id, id]));
  return numbered.map(([line, id]) => {
    const { continues } = line;
    if (continues === undefined) return { ...line, id };
    const before = mustGet(idOf, continues.id, 'the line that a line continues');
    return { ...line, id, continues: { ...continues, id: before } };
  });
}

function isOfPhases(
  lines: readonly NewLine[] | readonly (readonly NewLine[])[],
): lines is readonly (readonly NewLine[])[] {
  return lines.length > 0 && lines.every((line) => Array.isArray(line));
}

/** The lines of all phases with their commitments, which each phase has that has the price. */
function commitPhases(
  phases: readonly (readonly NewLine[])[],
  { commitments }: OwnParts,
  context: LineContext,
): readonly NewLine[] | Refusal {
  const all: NewLine[] = [];
  for (const [index, lines] of phases.entries()) {
    const prices = new Set(lines.map(({ priceId }) => priceId));
    const own = index === 0 ? commitments : commitments.filter((one) => prices.has(one.priceId));
    const committed = commitLines(lines, own, context);
    if (isRefusal(committed)) return committed;
    all.push(...committed);
  }
  return all;
}

function hasMixedPeriods(prices: readonly PriceTerms[]): boolean {
  const lengths = new Set(
    prices.flatMap(({ billingPeriod, billingPeriodCount }) => {
      if (billingPeriod === 'ONETIME') return [];
      const { unit, count } = billingLengthOf({ billingPeriod, billingPeriodCount });
      return [`${count} ${unit}`];
    }),
  );
  return lengths.size > 1;
}

/** A threshold is one of usage of the plan (docs/domain.md 30.1). */
function thresholdRefusal(terms: OpeningTerms, lines: readonly NewLine[]): Refusal | null {
  if (terms.kept.auto_invoice_threshold === null) return null;
  const ofPlan = lines.filter(({ addon }) => addon === null);
  if (ofPlan.some(({ price }) => termsOfPrice(price).type === 'USAGE')) return null;
  return invalid({ auto_invoice_threshold: 'needs a plan with a price of usage' });
}

/**
 * Rules that need the prices: thresholds, and what prorations refuse (docs/domain.md 22).
 */
function linesRefusal(
  terms: OpeningTerms,
  lines: readonly NewLine[],
  now: InstantMs,
): Refusal | null {
  const prices = lines.map(({ price }) => termsOfPrice(price));
  const threshold = thresholdRefusal(terms, lines);
  if (threshold !== null) return threshold;
  if (terms.prorationBehavior === 'none') return null;
  if (terms.startMs < now) {
    const problem = 'create_prorations cannot be combined with a start_date in the past';
    return invalid({ proration_behavior: problem });
  }
  if (!hasMixedPeriods(prices)) return null;
  const problem = 'create_prorations needs lines that all have the same billing period';
  return invalid({ proration_behavior: problem });
}
