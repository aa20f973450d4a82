import type { Decimal } from '../../../contract/number/decimal.js';
import { formatMoney, Money } from '../../domain/money/money.js';
import type { DecimalText } from '../../records/record-dto.js';
import type { CreditSums } from './store-credits.js';

/** What is given back for unused time, and where it goes (docs/domain.md 23.1). */
export interface CreditSumsDto {
  /** Without taxes. */
  net_amount: DecimalText;
  /** The taxes of what credit notes give back; what an invoice sets off lowers its own. */
  tax_amount: DecimalText;
  /** With taxes: what lowers invoices that are not paid, by credit notes, and drafts. */
  lowered_amount: DecimalText;
  /** Without taxes: what the invoice of a change of plan sets off. */
  set_off_amount: DecimalText;
  /** With taxes: what goes to a wallet, by credit notes. */
  wallet_amount: DecimalText;
}

export function creditSumsToDto(sums: CreditSums, currency: string): CreditSumsDto {
  const money = (amount: Decimal): string => formatMoney(new Money(amount, currency));
  return {
    net_amount: money(sums.net),
    tax_amount: money(sums.tax),
    lowered_amount: money(sums.lowered),
    set_off_amount: money(sums.setOff),
    wallet_amount: money(sums.paidOut),
  };
}
