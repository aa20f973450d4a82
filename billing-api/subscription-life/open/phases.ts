import type { InstantMs } from '../../../contract/instant.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import { PHASES, type PhaseRow } from '../../declarations/subscriptions/phase.resource.js';
import { createRecords } from '../../records/create-record.js';
import type { MemberReader } from '../../records/member-rules.js';
import type { DateTime, MetadataDto } from '../../records/record-dto.js';
import { accept, isRefusal, nestedRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import type { LineContext } from '../../subscriptions/lines/line-price.js';
import type { NewLine } from '../../subscriptions/lines/new-line.js';
import {
  newPlanLines,
  readOverrides,
  type LineOverride,
  type OverrideLineItemBody,
} from '../../subscriptions/lines/override-lines.js';
import { pricesFrom } from '../../subscriptions/lines/succeeded-prices.js';
import { announcePhase } from '../../subscriptions/phases-store.js';
import { readCouponCodes, type CouponCode, type LineItemCouponsBody } from './adjustments.js';

/** A part of the life of a subscription in which its plan's prices are overridden as it says. */
export interface PhaseOfSubscriptionBody {
  /** The first one begins with the subscription, each other one where that before it ends. */
  start_date: DateTime;
  /** Where the next one begins; of the last one the end of the subscription. */
  end_date?: DateTime;
  /**
   * Codes of coupons on the invoices of its time.
   * @maxItems 100
   */
  coupons?: string[];
  /** Codes of coupons on its lines, by the price that names the line. */
  line_item_coupons?: LineItemCouponsBody;
  /** @maxItems 1000 */
  override_line_items?: OverrideLineItemBody[];
  metadata?: MetadataDto;
}

/** A phase of a request. */
export type RequestedPhase = {
  /** Where it stands in the request. */
  readonly place: string;
  readonly startMs: InstantMs;
  /** Null for the last one of a subscription without an end. */
  readonly endMs: InstantMs | null;
  readonly overrides: readonly LineOverride[];
  readonly coupons: readonly CouponCode[];
  readonly metadata: MetadataDto;
};

/** A phase with the id that it is stored under. */
export type IdentifiedPhase = RequestedPhase & { readonly id: string };

type Life = {
  readonly startMs: InstantMs;
  readonly endMs: InstantMs | null;
  readonly isDraft: boolean;
};

/** What is wrong with where a phase begins; null when nothing is. */
function startProblem(startMs: InstantMs, before: InstantMs, index: number): string | null {
  if (startMs === before) return null;
  return index === 0
    ? 'must be the start of the subscription'
    : 'must be where the phase before it ends';
}

function checkPhases(
  reader: MemberReader,
  phases: readonly RequestedPhase[],
  { startMs, endMs, isDraft }: Life,
): void {
  if (phases.length > 0 && isDraft) reader.note('phases', 'do not go with a draft');
  let before = startMs;
  for (const [index, phase] of phases.entries()) {
    reader.note(`${phase.place}.start_date`, startProblem(phase.startMs, before, index));
    if (phase.endMs !== null && phase.endMs <= phase.startMs) {
      reader.note(`${phase.place}.end_date`, 'must be later than the start');
    }
    before = phase.endMs ?? Infinity;
  }
  const last = phases.at(-1);
  if (last !== undefined && last.endMs !== endMs) {
    reader.note(`${last.place}.end_date`, 'must be the end of the subscription');
  }
}

/** Reads `phases`: contiguous, the first with the subscription, the last until its end. */
export function readPhases(
  reader: MemberReader,
  bodies: readonly PhaseOfSubscriptionBody[] = [],
  life: Life,
): readonly RequestedPhase[] {
  const starts = bodies.map((body, index) =>
    reader.instant(`phases.${index}.start_date`, body.start_date),
  );
  const phases = bodies.map((body, index) => {
    const place = `phases.${index}`;
    const next = starts[index + 1] ?? (index === bodies.length - 1 ? life.endMs : null);
    return {
      place,
      startMs: starts[index] ?? life.startMs,
      endMs: reader.instant(`${place}.end_date`, body.end_date) ?? next,
      overrides: readOverrides(reader, body.override_line_items, `${place}.override_line_items`),
      coupons: readCouponCodes(reader, body, `${place}.`),
      metadata: { ...reader.metadata(body.metadata, `${place}.metadata`) },
    };
  });
  checkPhases(reader, phases, life);
  return phases;
}

/** The prices of the plan that are in force at some time of a phase. */
function pricesOf(
  { startMs, endMs }: RequestedPhase,
  prices: readonly PriceRow[],
  now: InstantMs,
): readonly PriceRow[] {
  return pricesFrom(prices, startMs).filter((price) => {
    const isKept = price.is_start_given || price.start_date > now;
    return endMs === null || !isKept || price.start_date < endMs;
  });
}

/**
 * The lines of the plan in each phase, which carry its dates. A line continues that of the same
 * price in the phase before, so that they share what a lineage shares.
 */
export function newPhaseLines(
  phases: readonly IdentifiedPhase[],
  { prices, newLineId }: { readonly prices: readonly PriceRow[]; readonly newLineId: () => string },
  context: LineContext,
): readonly (readonly NewLine[])[] | Refusal {
  const made: (readonly NewLine[])[] = [];
  for (const phase of phases) {
    const own = pricesOf(phase, prices, context.now);
    const lines = newPlanLines(own, phase.overrides, context);
    if (isRefusal(lines)) return nestedRefusal(lines, phase.place);
    const before = made.at(-1);
    const { id, startMs, endMs } = phase;
    made.push(
      lines.map((line) => {
        const continued = before?.find((other) => other.priceId === line.priceId)?.id;
        return {
          ...line,
          id: newLineId(),
          phase: { id, startMs },
          endMs: Math.min(line.endMs ?? Infinity, endMs ?? Infinity),
          ...(continued === undefined ? {} : { continues: { id: continued, isSettled: false } }),
        };
      }),
    );
  }
  return made.map((lines) =>
    lines.map((line) => ({ ...line, endMs: line.endMs === Infinity ? null : line.endMs })),
  );
}

/** Stores the phases of a new subscription. */
export async function storePhases(
  unit: Unit,
  subscriptionId: string,
  phases: readonly IdentifiedPhase[],
): Promise<readonly PhaseRow[]> {
  const items = phases.map(({ id, startMs, endMs, metadata }) => ({
    id,
    subscription_id: subscriptionId,
    start_date: startMs,
    end_date: endMs,
    metadata,
    // What begins with the subscription is told with it.
    begun_at: startMs <= unit.now ? unit.now : null,
  }));
  const stored: readonly PhaseRow[] | Refusal = accept(
    await createRecords(unit, PHASES, {
      items,
      isBulk: false,
    }),
  );
  for (const row of stored) announcePhase(unit, row, 'created');
  return accept(stored);
}
