import type { Decimal } from '../../../contract/number/decimal.js';
import type { PriceModel } from '../price/price-model.js';
import { ratePrice } from './rate-price.js';
import type { CommitmentTerms } from '../commitment/commitment.js';

/**
 * C of docs/domain.md 11.3: the committed money, or the charge of the committed quantity at the
 * price, with its tiers and packages.
 */
export function commitmentMoney({ type, value }: CommitmentTerms, price: PriceModel): Decimal {
  switch (type) {
    case 'amount':
      return value;
    case 'quantity':
      return ratePrice(price, value).amount;
  }
}
