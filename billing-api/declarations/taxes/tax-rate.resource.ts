import { recordVersion } from '../../records/columns.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';
import {
  answered,
  changeable,
  choice,
  derived,
  lasting,
  nameText,
  optional,
  optionalWith,
  plainText,
  required,
  unsignedDecimal,
} from '../../records/standard/members.js';
import type { TaxRateDto } from '../../generated/standard/tax-rate-types.js';

const IN_PLACE = 'In place of whichever value it has.';

export const TAX_RATES = defineResource({
  name: 'tax rate',
  idPrefix: 'taxrate',
  table: 'tax_rates',
  columns: {
    name: changeable(required(nameText({ max: 255 }))),
    code: required(nameText({ max: 255 }), { create: 'What associations name.' }),
    description: changeable(optional(plainText({ maxLength: 10_000 }))),
    tax_rate_type: derived(choice(['percentage', 'fixed']), {
      create: 'Follows from the value that is given.',
    }),
    percentage_value: changeable(
      lasting(optional(unsignedDecimal, { create: '0 or more.', change: IN_PLACE })),
    ),
    fixed_value: changeable(
      lasting(
        optional(unsignedDecimal, {
          answer: "Money of the invoice's currency, rounded when it is applied.",
          create: '0 or more.',
          change: IN_PLACE,
        }),
      ),
    ),
    scope: optionalWith(choice(['INTERNAL', 'EXTERNAL', 'ONETIME']), 'INTERNAL'),
    tax_rate_status: changeable(
      answered(choice(['ACTIVE', 'INACTIVE']), { change: 'An INACTIVE rate taxes nothing.' }),
    ),
    version: recordVersion,
  },
  unique: { tax_rates_code: 'code' },
  removal: 'archived',
});
export type TaxRateRow = RecordOf<typeof TAX_RATES>;
export type TaxRateColumns = (typeof TAX_RATES)['columns'];

export function taxRateToDto(row: TaxRateRow): TaxRateDto {
  return recordToDto(TAX_RATES, row);
}
