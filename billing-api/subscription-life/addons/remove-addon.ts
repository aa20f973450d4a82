import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import {
  ADDON_ASSOCIATIONS,
  type AddonAssociationRow,
} from '../../declarations/subscriptions/addon-association.resource.js';
import type { WalletTransactionRow } from '../../declarations/money/wallet-transaction.resource.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { creditUnused } from '../settle/credit-lines.js';
import { lockUnused } from '../settle/lock-charges.js';
import { ADDON_ASSOCIATION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { assertPresent } from '../../../runtime/failure.js';
import { resultOf, undo } from '../../records/dry-run.js';
import { readRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { moveRecord } from '../../records/move-record.js';
import type { Occasion } from '../../records/occasion.js';
import { accept, invalid, type Refusal, Refused } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { endLines } from '../../subscriptions/lines/end-lines.js';
import { holdSubscription } from '../lines/held-line.js';
import { answeredAddon, type AnsweredAddon } from './answered-addon.js';
import type { RemoveAddonBody } from './addons-dto.js';

/** An addon that was removed, and what was given back for it; null where that is nothing. */
type Removed = {
  readonly association: AddonAssociationRow;
  readonly transaction: WalletTransactionRow | null;
};

/** Gives back what is unused of the charges in advance of an addon; nothing of a onetime one. */
async function giveBack(
  unit: Unit,
  loaded: BilledSubscription,
  { removed, atMs }: { readonly removed: AddonAssociationRow; readonly atMs: InstantMs },
): Promise<WalletTransactionRow | null> {
  if (removed.cadence === 'onetime') return null;
  const { related } = loaded;
  const lineItems = related.lineItems.filter(({ addon_association_id: of }) => of === removed.id);
  const own = { ...loaded, related: { ...related, lineItems } };
  await lockUnused(unit, own, atMs);
  const given = await creditUnused(unit, own, atMs);
  return given.transaction;
}

async function remove(
  unit: Unit,
  { addon_association_id: id, reason, ...body }: RemoveAddonBody,
): Promise<Removed> {
  const reader = new MemberReader();
  const { effective_date: text, proration_behavior: proration } = body;
  const given = reader.instant('effective_date', text);
  accept(reader.refusal());
  const found = await readRecord(unit, ADDON_ASSOCIATIONS, id);
  const loaded = await holdSubscription(unit, found.subscription_id);
  const { current_period_start: start, current_period_end: end } = loaded.subscription;
  const atMs = given ?? end;
  const earliest = Math.max(start, found.start_date);
  if (atMs < earliest || atMs > end) {
    const period = `${formatInstant(earliest)} – ${formatInstant(end)}`;
    throw new Refused(invalid({ effective_date: `must lie in the running period, ${period}` }));
  }
  const removed = await moveRecord(unit, ADDON_ASSOCIATIONS, {
    target: { id },
    lifecycle: ADDON_ASSOCIATION,
    move: 'cancel',
    to: 'cancelled',
    patch: ({ metadata }) => ({
      end_date: atMs,
      ...(reason === undefined ? {} : { metadata: { ...metadata, cancellation_reason: reason } }),
    }),
  });
  const isCredited = proration === 'create_prorations';
  const transaction = isCredited ? await giveBack(unit, loaded, { removed, atMs }) : null;
  await endLines(unit, { column: 'addon_association_id', id }, atMs);
  return { association: removed, transaction };
}

/** An addon that was removed; where it was only a look, nothing of it is stored. */
type RemovedAddon = AnsweredAddon & Pick<Removed, 'transaction'> & { readonly isDry: boolean };

/** DELETE /subscriptions/addon: an addon ends with the running period, or inside it. */
export async function removeAddon(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: RemoveAddonBody,
): Promise<RemovedAddon | Refusal> {
  const isDry = body.dry_run === true;
  const done = await writeUnit<RemovedAddon | Refusal>(dependencies, occasion, async (unit) => {
    const removed = await remove(unit, body);
    const [answered] = await answeredAddon(unit, [removed.association]);
    const { transaction } = removed;
    const answer = { ...assertPresent(answered, 'the addon'), transaction, isDry };
    if (isDry) undo(answer);
    return answer;
  });
  return resultOf(done);
}
