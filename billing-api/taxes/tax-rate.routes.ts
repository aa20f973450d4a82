import { TAX_RATES, type TaxRateColumns } from '../declarations/taxes/tax-rate.resource.js';
import { notReferenced } from '../records/change-record.js';
import { isPublished } from '../records/conditions.js';
import { Refusal, Refused } from '../records/refusal.js';
import { standardRoutes, type RecordChange } from '../records/standard/standard-routes.js';
import type { Unit } from '../records/unit.js';
import { changesValue, checkTaxRate, fillTaxRate, reviseTaxRate } from './tax-rate-rules.js';

/** What a rate takes stays what it is while it is associated with anything (docs/domain.md 4). */
const notAssociated = notReferenced(
  { table: 'tax_associations', column: 'tax_rate_id', having: isPublished },
  'has associations; archive them first',
);

async function refuseNewValue(
  unit: Unit,
  { row, patch }: RecordChange<TaxRateColumns>,
): Promise<void> {
  const problem = changesValue(row, patch) ? await notAssociated(unit, row.id) : null;
  if (problem === null) return;
  const remedy = 'or make a rate with the new value';
  throw new Refused(new Refusal('invalid_operation', `the tax rate ${problem}, ${remedy}`));
}

export const TAX_RATE_ROUTES = standardRoutes(TAX_RATES, {
  path: 'taxes/rates',
  tag: 'Taxes',
  entity: 'tax',
  record: 'A tax. It taxes whatever it is associated with, while it is ACTIVE.',
  create: {
    body: 'Exactly one of the two values.',
    example: { name: 'VAT Germany', code: 'DE-19', percentage_value: '19' },
    check: checkTaxRate,
    fill: fillTaxRate,
  },
  list: {},
  read: {},
  change: {
    body: 'Members that are present are changed. The value cannot change while the rate has an association.',
    example: { name: 'VAT', tax_rate_status: 'INACTIVE' },
    revise: reviseTaxRate,
    refuse: refuseNewValue,
  },
  remove: {
    description: 'Fails while anything is associated with the rate.',
    guards: [notAssociated],
    answers: 'nothing',
  },
});
