import { assertPresent } from '../../../runtime/failure.js';
import { customerNameFrom, findNamedCustomer } from '../../customers/named-customer.js';
import { findPriceUnitsForUse } from '../../catalog/price-units/price-units-store.js';
import {
  WALLETS,
  walletToDto,
  type ChangeWalletBody,
  type CreateWalletBody,
  type WalletRow,
} from '../../declarations/money/wallet.resource.js';
import { alertState } from '../../domain/wallet/alert-state.js';
import { postingsOfCredit } from '../../domain/ledger/postings.js';
import { WALLET } from '../../domain/lifecycle/money-lifecycle.js';
import { postGroups } from '../ledger/post-groups.js';
import { changeRecord, type ChangeTarget } from '../../records/change-record.js';
import { readExpanded } from '../../records/expand-record.js';
import { readRecord } from '../../records/find-record.js';
import { moveRecord } from '../../records/move-record.js';
import type { Occasion } from '../../records/occasion.js';
import { announce } from '../../records/recorded-change.js';
import {
  accept,
  isRefusal,
  notFound,
  notPublished,
  type Refusal,
  Refused,
} from '../../records/refusal.js';
import { writeOperation } from '../../records/operation.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type Unit,
  type WriteDependencies,
} from '../../records/unit.js';
import { addCredits, type Moved, type Movement } from './move-credits.js';
import {
  autoTopupRefusal,
  readWalletRequest,
  walletPatch,
  type WalletPatch,
  type WalletRequest,
} from './wallet-request.js';
import { WALLET_EXPANSIONS, type ExpandedWallet } from './wallet-expansions.js';
import { storeWallet } from './wallets-store.js';

/** The worth of what was moved, as the ledger posts it. */
export function shareOf({ transaction }: Moved) {
  return { walletId: transaction.wallet_id, worth: transaction.amount };
}

/** What a group says of a movement of credits. */
export function groupOf({ transaction }: Moved) {
  return {
    customerId: transaction.customer_id,
    kind: `wallet.${transaction.type}`,
    entityType: 'wallet_transaction',
    entityId: transaction.id,
    currency: transaction.currency,
  };
}

/** Puts credits into a locked wallet that nobody pays for. */
export async function giveCredits(
  unit: Unit,
  wallet: WalletRow,
  movement: Movement,
): Promise<Moved> {
  const moved = await addCredits(unit, wallet, movement);
  await postGroups(unit, [{ ...groupOf(moved), postings: postingsOfCredit(shareOf(moved)) }]);
  return moved;
}

/** Currency and rate of a request: its own, or those of the price unit that it names. */
async function valueOf(unit: Unit, { currency, priceUnit, wallet }: WalletRequest) {
  if (priceUnit === null) {
    return { ...wallet, currency: assertPresent(currency, 'the currency of the request') };
  }
  const found = (await findPriceUnitsForUse(unit.tx, [priceUnit])).get(priceUnit);
  if (found === undefined) throw new Refused(notFound('price unit', priceUnit));
  const rate = found.conversionRate;
  const rates = { conversion_rate: rate, topup_conversion_rate: rate };
  return { ...wallet, ...rates, currency: found.baseCurrency };
}

async function makeWallet(
  unit: Unit,
  body: CreateWalletBody,
  request: WalletRequest,
): Promise<WalletRow> {
  const name = accept(customerNameFrom(body));
  const customer = await findNamedCustomer(unit, name);
  if (customer.status !== 'published') throw new Refused(notPublished('customer', customer.status));
  const values = accept(await valueOf(unit, request));
  accept(autoTopupRefusal(values));
  const wallet = await storeWallet(unit, { ...values, customer_id: customer.id });
  if (request.initial === null) return wallet;
  const { credits, expiryMs } = request.initial;
  const reason = 'FREE_CREDIT_GRANT';
  const moved = await giveCredits(unit, wallet, { credits, reason, expiryDate: expiryMs });
  return moved.wallet;
}

/** POST /wallets. */
export const createWallet = writeOperation(
  async (unit, body: CreateWalletBody): Promise<WalletRow> => {
    const request = accept(readWalletRequest(body, unit.now));
    return makeWallet(unit, body, request);
  },
);

/** GET /wallets/{id}. */
export function readWallet(
  dependencies: ReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<ExpandedWallet | Refusal> {
  const expansions = WALLET_EXPANSIONS;
  return readUnit(dependencies, occasion, (unit) =>
    readExpanded(unit, WALLETS, { id, expansions }),
  );
}

async function moveState(
  unit: Unit,
  target: ChangeTarget,
  status: 'active' | 'frozen',
): Promise<WalletRow> {
  const row = await readRecord(unit, WALLETS, target.id);
  if (row.wallet_status === status) return row;
  const told = (after: WalletRow) => Promise.resolve(walletToDto(after));
  const move = { target, lifecycle: WALLET, told };
  return status === 'frozen'
    ? moveRecord(unit, WALLETS, { ...move, move: 'freeze', to: 'frozen' })
    : moveRecord(unit, WALLETS, { ...move, move: 'unfreeze', to: 'active' });
}

/** A change of a wallet with the state of its alert by the new settings, which nobody is told. */
function withAlertState(row: WalletRow, patch: WalletPatch): WalletPatch {
  const { alert_settings: settings } = patch;
  if (settings === undefined) return patch;
  return { ...patch, alert_state: alertState(settings, row.credit_balance) };
}

/** PUT /wallets/{id}: its members, and whether it is frozen. */
export function changeWallet(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeWalletBody },
): Promise<WalletRow | Refusal> {
  const patch = walletPatch(body);
  if (isRefusal(patch)) return Promise.resolve(patch);
  const { wallet_status: status } = body;
  return writeUnit(dependencies, occasion, async (unit) => {
    const isChanged = Object.keys(patch).length > 0 || status === undefined;
    if (isChanged) {
      const change = (row: WalletRow) =>
        (patch.auto_topup === undefined ? null : autoTopupRefusal({ ...row, ...patch })) ??
        withAlertState(row, patch);
      const row = await changeRecord(unit, WALLETS, { target, change });
      announce(unit, WALLETS, { id: row.id, name: 'wallet.updated', told: walletToDto(row) });
      if (status === undefined) return row;
    }
    return moveState(unit, isChanged ? { id: target.id } : target, status);
  });
}
