import type { Currency } from '../../records/record-dto.js';

/** A tax rate that a customer or a subscription has in place of those of the tenant. */
export interface TaxRateOverrideBody {
  /** A published tax rate. @minLength 1 @maxLength 255 */
  tax_rate_code: string;
  /**
   * @isInt
   * @minimum 0
   * @maximum 1000000
   * @default 100
   */
  priority?: number;
  /** Only invoices of this currency. */
  currency?: Currency;
}
