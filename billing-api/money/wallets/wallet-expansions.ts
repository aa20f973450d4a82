import {
  ANSWERED_CUSTOMERS,
  customerToDto,
} from '../../declarations/customers/customer.resource.js';
import {
  walletToDto,
  type WalletDto,
  type WalletRow,
} from '../../declarations/money/wallet.resource.js';
import { refersTo, type Expanded, type Expansions } from '../../records/expand-record.js';

type WalletExpansions = Pick<WalletDto, 'customer'>;
export type ExpandedWallet = Expanded<WalletRow, WalletExpansions>;

export const WALLET_EXPANSIONS: Expansions<WalletRow, WalletExpansions> = {
  customer: refersTo('customer_id', ANSWERED_CUSTOMERS, customerToDto),
};

export function expandedWalletToDto({ row, expansions }: ExpandedWallet): WalletDto {
  return { ...walletToDto(row), ...expansions };
}
