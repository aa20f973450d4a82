import type { TaxRateDto } from '../../generated/standard/tax-rate-types.js';
import { instant, integer, nullable, oneOf, text } from '../../records/columns.js';
import { defineResource, type RecordOf } from '../../records/resource.js';
import { figure, kept } from './value-columns.js';

/** A tax on an invoice. */
export const INVOICE_TAXES = defineResource({
  name: 'invoice tax',
  idPrefix: 'taxapp',
  table: 'invoice_taxes',
  columns: {
    invoice_id: nullable(text),
    position: integer,
    entity_type: oneOf(['tenant', 'customer', 'subscription', 'invoice']),
    entity_id: text,
    tax_rate_id: text,
    /** The rate as it was when it was applied. */
    tax_rate: kept<TaxRateDto>(),
    /** Null for a tax that was named with a one-off invoice. */
    tax_association_id: nullable(text),
    taxable_amount: figure,
    tax_amount: figure,
    applied_at: instant,
    idempotency_key: nullable(text),
  },
  removal: null,
  isAudited: false,
});
export type InvoiceTaxRow = RecordOf<typeof INVOICE_TAXES>;
