import { assertPresent } from '../../../runtime/failure.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { lockForChange, targetRefusal, type ChangeTarget } from '../../records/change-record.js';
import { resultOf, undo } from '../../records/dry-run.js';
import { readRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { accept, invalid, notFound, type Refusal, Refused } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { withRelated, type LoadedSubscription } from '../../subscriptions/loaded-subscription.js';
import { modifyGroup } from '../groups/group.js';
import { modifyInheritance, type ChangedMember } from '../groups/modify-inheritance.js';
import { replaceLine, type ReplacedLine } from '../lines/replace-line.js';
import { holdLine } from '../lines/held-line.js';
import type { ModifySubscriptionBody, QuantityOfLineBody } from './modify-dto.js';
import {
  modifyCoupons,
  modifyTaxes,
  touch,
  type ModifiedAdjustments,
} from './modify-adjustments.js';
import { moveTrialEnd, type MovedTrial } from './move-trial-end.js';

/** What a modification has done, or would do. */
export type Modified = {
  readonly subscription: LoadedSubscription;
  readonly quantities: readonly ReplacedLine[];
  readonly trial: MovedTrial | null;
  readonly adjustments: ModifiedAdjustments | null;
  /** Subscriptions of its hierarchy that were changed, itself included. */
  readonly members: readonly ChangedMember[];
};

type Wanted = { readonly target: ChangeTarget; readonly body: ModifySubscriptionBody };

async function changeLine(
  unit: Unit,
  subscriptionId: string,
  { body, place }: { readonly body: QuantityOfLineBody; readonly place: string },
): Promise<ReplacedLine> {
  const reader = new MemberReader();
  const members = { at: `${place}.effective_date`, quantity: `${place}.quantity` };
  const quantity = reader.decimal(members.quantity, body.quantity);
  const atMs = reader.instant(members.at, body.effective_date) ?? unit.now;
  accept(reader.refusal());
  const held = await holdLine(unit, body.id);
  if (held.row.subscription_id !== subscriptionId) {
    throw new Refused(notFound('subscription line item', body.id));
  }
  const given = assertPresent(quantity, 'a quantity, which is refused where it is absent');
  const only = { model: null, commitment: null, hasTimeBuckets: false };
  return replaceLine(unit, held, { ...only, quantity: given, atMs, members });
}

async function changeQuantities(
  unit: Unit,
  id: string,
  lines: readonly QuantityOfLineBody[],
): Promise<readonly ReplacedLine[]> {
  const changed: ReplacedLine[] = [];
  for (const [index, body] of lines.entries()) {
    const place = `quantity_change_params.line_items.${index}`;
    const one = await changeLine(unit, id, { body, place });
    changed.push(one);
  }
  return changed;
}

/** Refuses a member that belongs to another type, and the absence of its own. */
function paramsRefusal(body: ModifySubscriptionBody): Refusal | null {
  const params = {
    quantity_change: body.quantity_change_params,
    trial_end: body.trial_end_params,
    coupon: body.coupon_params,
    tax: body.tax_params,
    inheritance: body.inheritance_params,
    grouped_invoicing: body.grouped_invoicing_params,
  };
  for (const [type, given] of Object.entries(params)) {
    const isOwn = type === body.type;
    if (isOwn && given === undefined)
      return invalid({ [`${type}_params`]: 'must be given: send an object with what changes' });
    if (!isOwn && given !== undefined) {
      return invalid({ [`${type}_params`]: `must be left out with type ${body.type}` });
    }
  }
  return null;
}

type Done = Omit<Modified, 'subscription'> & {
  /** The subscription, where its lines were changed. */
  readonly ofLines: SubscriptionRow | null;
};

const NOTHING: Done = {
  quantities: [],
  trial: null,
  adjustments: null,
  members: [],
  ofLines: null,
};

/** Changes who belongs to a hierarchy; null where the request is about something else. */
async function modifyMembers(
  unit: Unit,
  id: string,
  { inheritance_params: inheritance, grouped_invoicing_params: grouped }: ModifySubscriptionBody,
): Promise<readonly ChangedMember[] | null> {
  if (inheritance !== undefined) return modifyInheritance(unit, id, inheritance);
  return grouped === undefined ? null : modifyGroup(unit, id, grouped);
}

/** Changes the quantities of lines, and with them the version of their subscription. */
async function modifyQuantities(unit: Unit, id: string, { target, body }: Wanted): Promise<Done> {
  const { line_items: lines } = assertPresent(body.quantity_change_params, 'new quantities');
  const held = await lockForChange(unit, SUBSCRIPTIONS, target);
  const quantities = await changeQuantities(unit, id, lines);
  const ofLines = await touch(unit, held);
  return { ...NOTHING, quantities, ofLines };
}

/** Does what the type of a request says, whose member is there. */
async function carryOut(unit: Unit, row: SubscriptionRow, { target, body }: Wanted): Promise<Done> {
  const { trial_end_params: trialEnd, coupon_params: coupons, tax_params: taxes } = body;
  if (trialEnd !== undefined) {
    const trial = await moveTrialEnd(unit, row.id, trialEnd);
    return { ...NOTHING, trial };
  }
  if (coupons !== undefined) {
    const adjustments = await modifyCoupons(unit, row.id, coupons);
    return { ...NOTHING, adjustments };
  }
  if (taxes !== undefined) {
    const adjustments = await modifyTaxes(unit, row.id, taxes);
    return { ...NOTHING, adjustments };
  }
  const members = await modifyMembers(unit, row.id, body);
  if (members !== null) return { ...NOTHING, members };
  return modifyQuantities(unit, row.id, { target, body });
}

/** The subscription as it is now. */
function changedRow(
  { trial, adjustments, members, ofLines }: Done,
  before: SubscriptionRow,
): SubscriptionRow {
  const member = members.find((one) => one.row.id === before.id);
  return trial?.subscription ?? adjustments?.subscription ?? member?.row ?? ofLines ?? before;
}

async function modify(unit: Unit, { target, body }: Wanted): Promise<Modified> {
  const row = await readRecord(unit, SUBSCRIPTIONS, target.id);
  accept(paramsRefusal(body) ?? targetRefusal(SUBSCRIPTIONS, row, target));
  const done = await carryOut(unit, row, { target, body });
  return { ...done, subscription: await withRelated(unit, changedRow(done, row)) };
}

/** POST /subscriptions/{id}/modify/preview and /execute: a preview is undone. */
export async function modifySubscription(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { isPreview, ...wanted }: Wanted & { readonly isPreview: boolean },
): Promise<Modified | Refusal> {
  const done = await writeUnit(dependencies, occasion, async (unit) => {
    const modified = await modify(unit, wanted);
    return isPreview ? undo(modified) : modified;
  });
  return resultOf(done);
}
