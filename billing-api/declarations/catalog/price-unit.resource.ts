import { recordVersion } from '../../records/columns.js';
import { defineResource } from '../../records/resource.js';
import {
  answeredAs,
  changeable,
  currencyCode,
  nameText,
  plainText,
  positiveDecimal,
  required,
} from '../../records/standard/members.js';

export const PRICE_UNITS = defineResource({
  name: 'price unit',
  idPrefix: 'price_unit',
  table: 'price_units',
  columns: {
    name: changeable(required(nameText({ max: 255 }))),
    code: required(plainText({ pattern: '^[A-Za-z0-9_]{1,20}$' })),
    symbol: changeable(required(nameText({ max: 20 }))),
    base_currency: required(answeredAs(currencyCode, { name: 'string' })),
    conversion_rate: required(positiveDecimal, {
      create: 'Money per unit, greater than 0: a token worth 0.01 usd has "0.01".',
    }),
    version: recordVersion,
  },
  unique: { price_units_code: 'code' },
  removal: 'archived',
});
