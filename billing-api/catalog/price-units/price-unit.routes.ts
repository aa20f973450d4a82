import { PRICE_UNITS } from '../../declarations/catalog/price-unit.resource.js';
import { notReferenced } from '../../records/change-record.js';
import { oneOfTexts } from '../../records/standard/search-members.js';
import { standardRoutes } from '../../records/standard/standard-routes.js';

/** No price, ended or not, may refer to a unit that is removed (docs/domain.md 4). */
const notPriced = notReferenced(
  { table: 'prices', column: 'price_unit_id' },
  'has prices, which keep their unit for ever',
);

/** Named first in .config/tsoa.json, or else GET /prices/{id} would take /prices/units. */
export const PRICE_UNIT_ROUTES = standardRoutes(PRICE_UNITS, {
  path: 'prices/units',
  tag: 'Price units',
  entity: 'price',
  create: {
    body: 'A currency of your own, with its rate to a real one.',
    example: {
      name: 'Tokens',
      code: 'tokens',
      symbol: 'T',
      base_currency: 'usd',
      conversion_rate: '0.01',
    },
  },
  search: { by: { price_unit_ids: oneOfTexts('id') } },
  list: {},
  readBy: { path: 'code/{code}', column: 'code' },
  read: {},
  change: {
    body: 'Members that are present are changed; code, currency and rate never change.',
    example: { name: 'Credits', symbol: 'C' },
  },
  remove: {
    operationId: 'removePriceUnit',
    description: 'Fails when any price refers to the unit, also one that has ended.',
    guards: [notPriced],
    answers: 'message',
  },
});
