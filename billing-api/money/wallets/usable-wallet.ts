import { WALLETS, type WalletRow } from '../../declarations/money/wallet.resource.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { WALLET } from '../../domain/lifecycle/money-lifecycle.js';
import { lockRecord } from '../../records/find-record.js';
import { notFound, Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';

/** Locks a wallet that is to take or give credits: an active one. */
export async function lockUsableWallet(unit: Unit, id: string): Promise<WalletRow> {
  const wallet = await lockRecord(unit, WALLETS, id);
  if (wallet === null) throw new Refused(notFound(WALLETS.name, id));
  if (isIn(WALLET, 'usable', wallet.wallet_status)) return wallet;
  const problem = `the wallet is ${wallet.wallet_status}; only an active one takes or gives credits`;
  throw new Refused(new Refusal('invalid_operation', problem));
}
