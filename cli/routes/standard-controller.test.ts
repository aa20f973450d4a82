import { describe, expect, it } from 'vitest';
import { recordVersion, withDefault } from '../../billing-api/records/columns.js';
import { defineResource } from '../../billing-api/records/resource.js';
import {
  answered,
  changeable,
  choice,
  nameText,
  optional,
  optionalWith,
  required,
  wholeNumber,
} from '../../billing-api/records/standard/members.js';
import { oneOfTexts } from '../../billing-api/records/standard/search-members.js';
import { standardRoutes } from '../../billing-api/records/standard/standard-routes.js';
import { controllerModule } from './standard-controller.mjs';
import { typesModule } from './standard-types.mjs';

const SHOPS = defineResource({
  name: 'online shop',
  idPrefix: 'shop',
  table: 'shops',
  columns: {
    name: changeable(required(nameText({ max: 20 }), { create: 'What customers see.' })),
    rank: changeable(optional(wholeNumber({ minimum: 1, maximum: 9 }), { answer: '1 is best.' })),
    size: optionalWith(choice(['small', 'large']), 'small'),
    visits: answered(withDefault(wholeNumber({}))),
    version: recordVersion,
  },
  removal: 'archived',
});

const routes = standardRoutes(SHOPS, {
  path: 'shops',
  tag: 'Shops',
  entity: 'shop',
  create: { example: { name: 'Corner' } },
  search: { by: { shop_ids: oneOfTexts('id') } },
  change: { body: 'Members that are present are changed.', example: { rank: 2 } },
  remove: { guards: [], answers: 'nothing' },
});
const declared = { constant: 'SHOP_ROUTES', file: 'shops/online-shop.routes.js', ...routes };

describe('the types of a declaration', () => {
  const { name, text } = typesModule(declared);

  it('say what answers have, null included, and hide what is hidden', () => {
    expect(name).toBe('online-shop-types.ts');
    expect(text).toContain(`export interface OnlineShopDto extends RecordDto {
  name: string;
  /**
   * 1 is best.
   * @isInt
   */
  rank: number | null;
  size: 'small' | 'large';
  /** @isInt */
  visits: number;
}`);
  });

  it('say what a request to create gives, with limits and defaults', () => {
    expect(text).toContain(`/** @example {"name":"Corner"} */
export interface CreateOnlineShopBody {
  /**
   * What customers see.
   * @minLength 1
   * @maxLength 20
   */
  name: string;
  /**
   * @isInt
   * @minimum 1
   * @maximum 9
   */
  rank?: number;
  /** @default "small" */
  size?: 'small' | 'large';
  metadata?: MetadataDto;
}`);
  });

  it('say what a request to change gives, and that null clears what may be null', () => {
    expect(text).toContain(`   * Null clears it.
   * @isInt
   * @minimum 1
   * @maximum 9
   */
  rank?: number | null;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
}`);
  });
});

describe('the controller of a declaration', () => {
  const { name, text } = controllerModule(declared);

  it('has the routes that are declared, and no other', () => {
    expect(name).toBe('online-shops-controller.ts');
    const methods = [...text.matchAll(/ {2}public async (\w+)\(/g)].map(([, method]) => method);
    expect(methods).toEqual([
      'createOnlineShop',
      'searchOnlineShops',
      'changeOnlineShop',
      'archiveOnlineShop',
    ]);
    expect(text).toContain(`  /** @summary Archive an online shop */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'shop', access: 'write' })
  @SuccessResponse(204, 'Archived')`);
  });
});
