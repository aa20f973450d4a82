import { describe, expect, test } from 'vitest';
import { addressOf, matchPath, pathTo, placeOf } from './router.js';

describe('the router', () => {
  test.each([
    ['/', '/', {}],
    ['/invoices/:id', '/invoices/inv_1', { id: 'inv_1' }],
    ['/invoices/:invoice/lines/:line', '/invoices/a/lines/b', { invoice: 'a', line: 'b' }],
    ['/events/:id', '/events/a%2Fb%20c', { id: 'a/b c' }],
    ['/invoices/:id', '/invoices', null],
    ['/invoices/:id', '/invoices/', null],
    ['/invoices', '/customers', null],
    ['/invoices/:id', '/invoices/a/b', null],
  ])('matches %s with %s', (pattern, path, names) => {
    expect(matchPath(pattern, path)).toEqual(names);
  });

  test('reads back every address that it makes', () => {
    const place = {
      environmentId: 'env_1',
      path: pathTo('/events/:id', { id: 'a/b c?#' }),
      query: { status: 'DRAFT', q: 'Ä & B' },
    };
    const { pathname, search } = new URL(addressOf(place), 'http://localhost');
    expect(placeOf(pathname, search)).toEqual(place);
    expect(matchPath('/events/:id', placeOf(pathname, search).path)).toEqual({ id: 'a/b c?#' });
  });

  test('leaves filters without a value out of the address', () => {
    const query = { status: '', page: '2' };
    const place = { environmentId: 'env_1', path: '/invoices', query };
    expect(addressOf(place)).toBe('/console/env_1/invoices?page=2');
  });

  test('knows the address without an environment', () => {
    expect(placeOf('/console/', '')).toEqual({ environmentId: '', path: '/', query: {} });
  });
});
