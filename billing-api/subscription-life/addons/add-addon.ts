import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import {
  ADDON_ASSOCIATIONS,
  type AddonAssociationRow,
} from '../../declarations/subscriptions/addon-association.resource.js';
import { LINE_ITEMS } from '../../declarations/subscriptions/line-item.resource.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { updateRecord } from '../../records/change-record.js';
import { resultOf, undo } from '../../records/dry-run.js';
import { lockRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { accept, type Refusal, reworded, unnestedRefusal } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { commitLines } from '../../subscriptions/lines/commit-lines.js';
import {
  commitmentProblem,
  readLineCommitments,
  type RequestedCommitment,
} from '../../subscriptions/lines/commitment-request.js';
import {
  overrideLines,
  readOverrides,
  type LineOverride,
} from '../../subscriptions/lines/override-lines.js';
import { storeLines, type StoredLines } from '../../subscriptions/lines/store-lines.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { holdSubscription } from '../lines/held-line.js';
import { storeGrants } from '../open/adjustments.js';
import { holdAddons, newAddonLines, storeAddons, type RequestedAddon } from '../open/addons.js';
import { findLineContext } from '../open/lines.js';
import { readFirstCharges, storeSettlement, termsOf } from '../lines/settle-lines.js';
import { answeredAddon, type AnsweredAddon } from './answered-addon.js';
import type { AddAddonBody } from './addons-dto.js';

/** Where the reading of addons has the addon of a request, which has only this one. */
const PLACE = 'addons.0';

/** What a request says of an addon, which is not checked against stored records yet. */
type Wanted = {
  readonly requested: RequestedAddon;
  readonly overrides: readonly LineOverride[];
  readonly commitments: readonly RequestedCommitment[];
};

/** Where an addon begins: in the running period; one of a draft begins with it. */
function startOf(
  reader: MemberReader,
  row: SubscriptionRow,
  { body, now }: { readonly body: AddAddonBody; readonly now: InstantMs },
): InstantMs {
  const given = reader.instant('start_date', body.start_date);
  if (row.subscription_status === 'draft') {
    const remedy = 'while the subscription is a draft: the addon begins with it';
    if (given !== null) reader.note('start_date', `must be left out ${remedy}`);
    if (body.cadence === 'onetime') reader.note('cadence', `must be recurring ${remedy}`);
    return row.start_date;
  }
  const startMs = given ?? now;
  const { current_period_start: start, current_period_end: end } = row;
  if (startMs < start || startMs >= end) {
    const period = `${formatInstant(start)} – ${formatInstant(end)}`;
    reader.note('start_date', `must lie in the running period, ${period}`);
  }
  return startMs;
}

/** Where an addon ends: a onetime one with the running period, another one where it says. */
function endOf(
  reader: MemberReader,
  { current_period_end: periodEnd }: SubscriptionRow,
  { body, startMs }: { readonly body: AddAddonBody; readonly startMs: InstantMs },
): InstantMs | null {
  const endMs = reader.instant('end_date', body.end_date);
  if (body.cadence === 'onetime') {
    if (endMs !== null) reader.note('end_date', 'must be left out: a onetime addon ends by itself');
    return periodEnd;
  }
  if (endMs !== null && endMs <= startMs) reader.note('end_date', 'must be later than the start');
  return endMs;
}

function wantedOf(
  unit: Unit,
  { subscription: row }: BilledSubscription,
  body: AddAddonBody,
): Wanted {
  const reader = new MemberReader();
  const startMs = startOf(reader, row, { body, now: unit.now });
  reader.metadata(body.metadata);
  const endMs = endOf(reader, row, { body, startMs });
  const commitments = readLineCommitments(reader, body.line_item_commitments, {});
  if (commitments.length > 0) reader.note('line_item_commitments', commitmentProblem(row));
  const { cadence = 'recurring', addon_id: addonId } = body;
  const wanted = {
    requested: { place: PLACE, addonId, startMs, endMs, cadence },
    overrides: readOverrides(reader, body.override_line_items),
    commitments,
  };
  return accept(reader.refusal() ?? wanted);
}

/** Charges the rest of the period of new lines at once, so that no later invoice does. */
async function chargeNow(
  unit: Unit,
  { related, ...loaded }: BilledSubscription,
  { lineItems, prices }: StoredLines,
): Promise<InvoiceDocument | null> {
  const known = { ...loaded, related: { ...related, prices } };
  const lines = lineItems.map((item) => termsOf(known, item));
  const settlement = await readFirstCharges(unit, known, lines);
  for (const { item: row } of settlement.lines) {
    await updateRecord(unit, LINE_ITEMS, { row, patch: { is_settled: true } });
  }
  const settled = await storeSettlement(unit, known, settlement);
  return settled.invoice;
}

type Added = {
  readonly association: AddonAssociationRow;
  readonly invoice: InvoiceDocument | null;
};

/** Does the work; what refuses it names the members of a request that has only this addon. */
const unnested = <T>(work: () => Promise<T>): Promise<T> =>
  reworded(work, (refusal) => unnestedRefusal(refusal, PLACE));

/** Stores an addon with its credits and lines. */
async function storeAddon(
  unit: Unit,
  { subscription: row, related }: BilledSubscription,
  { requested, overrides, commitments }: Wanted,
): Promise<StoredLines & { readonly associationId: string }> {
  const match = {
    currency: row.currency,
    billingPeriod: row.billing_period,
    billingPeriodCount: row.billing_period_count,
  };
  const addons = await unnested(() => holdAddons(unit, { ...match, addons: [requested] }));
  const { id: subscriptionId, customer_id: customerId } = row;
  const { startMs } = requested;
  await unnested(() => storeAddons(unit, subscriptionId, addons));
  const sources = { planId: null, addons, requested: [] };
  await storeGrants(unit, sources, { subscriptionId, startMs });
  const wanted = { request: { ...match, addedLines: [], commitments }, subscriptionId };
  const context = await findLineContext(unit, wanted, { planPrices: [], addons });
  const overridden = accept(overrideLines(newAddonLines(addons), overrides, context));
  const lines = accept(commitLines(overridden, commitments, context));
  const plan = mustGet(related.plans, row.plan_id, 'the plan of a subscription');
  const isRunning = row.subscription_status !== 'draft';
  const owner = { subscriptionId, customerId, startMs, plan, isRunning };
  const stored = await storeLines(unit, owner, { lines, meters: context.meters });
  return { ...stored, associationId: assertPresent(addons[0], 'the addon').associationId };
}

async function add(unit: Unit, body: AddAddonBody): Promise<Added> {
  const loaded = await holdSubscription(unit, body.subscription_id, true);
  const wanted = wantedOf(unit, loaded, body);
  const stored = await storeAddon(unit, loaded, wanted);
  // The opening invoice of a draft charges all of its first period.
  const isDraft = loaded.subscription.subscription_status === 'draft';
  const isProrated = !isDraft && body.proration_behavior === 'create_prorations';
  const invoice = isProrated ? await chargeNow(unit, loaded, stored) : null;
  const association = await lockRecord(unit, ADDON_ASSOCIATIONS, stored.associationId);
  const row = assertPresent(association, 'the addon of a subscription');
  const patch = { metadata: { ...body.metadata } };
  const noted = await updateRecord(unit, ADDON_ASSOCIATIONS, { row, patch });
  return { association: noted, invoice };
}

/** An addon that was added; where it was only a look, nothing of it is stored. */
type AddedAddon = AnsweredAddon & Pick<Added, 'invoice'> & { readonly isDry: boolean };

/**
 * POST /subscriptions/addon: an addon of an active subscription or a draft, with its lines and
 * credits.
 */
export async function addAddon(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: AddAddonBody,
): Promise<AddedAddon | Refusal> {
  const isDry = body.dry_run === true;
  const done = await writeUnit<AddedAddon | Refusal>(dependencies, occasion, async (unit) => {
    const added = await add(unit, body);
    const [answered] = await answeredAddon(unit, [added.association]);
    const { invoice } = added;
    const answer = { ...assertPresent(answered, 'the addon'), invoice, isDry };
    if (isDry) undo(answer);
    return answer;
  });
  return resultOf(done);
}
