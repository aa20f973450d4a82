import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { mustGet } from '../../runtime/failure.js';
import { projectRoot } from '../../runtime/project.js';
import { FILLED_AT, type FilledEnvironment } from './filled-environment.js';
import { requestLists, type RequestList } from './request-lists.js';

/** Where each resource with expandable members is found. */
const FOUND_BY: ReadonlyMap<string, string> = new Map([
  ['Price', '/v1/prices/search'],
  ['Plan', '/v1/plans/search'],
  ['Addon', '/v1/addons/search'],
  ['Feature', '/v1/features/search'],
  ['Entitlement', '/v1/entitlements/search'],
  ['Subscription', '/v1/subscriptions/search'],
  ['Invoice', '/v1/invoices/search'],
  ['Credit note', '/v1/creditnotes'],
  ['Wallet', '/v1/wallets/search'],
]);

/** What no record of a filled environment has; tests of the resources have it. */
const NOT_FILLED = ['Price pricing_unit'];

const HEAD = '| Resource | Expandable members |\n| --- | --- |\n';

type Expandable = { readonly resource: string; readonly names: readonly string[] };

/** The rows of the table of docs/http.md 1.6, without what it says in words behind the names. */
function documentedExpansions(): readonly Expandable[] {
  const page = readFileSync(join(projectRoot, 'docs/http.md'), 'utf8');
  const [rows = ''] = page.slice(page.indexOf(HEAD) + HEAD.length).split('\n\n');
  return rows.split('\n').map((row) => {
    const [, resource = '', members = ''] = row.split('|').map((cell) => cell.trim());
    const names = members.replaceAll(/ \([^)]*\)|:.*|, as .*/g, '').split(', ');
    return { resource, names };
  });
}

/** The members of every search with filters that take a list, by its path. */
function listsOfSearches(): ReadonlyMap<string, readonly string[]> {
  const own = requestLists().filter(({ path }) => path.length === 1);
  const nameOf = ({ path: [name = ''] }: RequestList): string => name;
  const searches = own.filter(
    (list) => list.operation.endsWith('/search') && nameOf(list) === 'filters',
  );
  return new Map(
    searches.map(({ operation }) => [
      operation.replace('POST ', ''),
      own.filter((list) => list.operation === operation).map(nameOf),
    ]),
  );
}

/** That empty lists and days count in every search as docs/http.md 1.6 says. */
export async function expectFilters({ call }: FilledEnvironment): Promise<void> {
  const searches = listsOfSearches();
  expect(searches.size).toBeGreaterThan(15);
  const day = FILLED_AT.slice(0, 10);
  for (const [path, names] of searches) {
    const count = async (body: object): Promise<number> =>
      (await call('POST', path, { body: { limit: 1, ...body } })).body.pagination?.total;
    const created = (operator: string, value: object) =>
      count({ filters: [{ field: 'created_at', operator, value }] });
    const all = await count({});
    expect([path, all > 0]).toEqual([path, true]);
    const empty = Object.fromEntries(names.map((name) => [name, []]));
    expect([path, 'empty lists', await count(empty)]).toEqual([path, 'empty lists', all]);
    const since = await created('gte', { date: `${day}T00:00:00Z` });
    expect([path, 'filled on the day', since > 0]).toEqual([path, 'filled on the day', true]);
    const found = [await created('gte', { date: day }), await created('lt', { date: day })];
    expect([path, day, ...found]).toEqual([path, day, since, all - since]);
  }
}

/** That each resource expands what docs/http.md 1.6 says, when it is asked to, and names it. */
export async function expectExpansions({ call, ids }: FilledEnvironment): Promise<void> {
  const prices = { name: 'Calls', entity_type: 'price', lookup_key: 'calls' };
  const { body: group } = await call('POST', '/v1/groups', { body: prices });
  await call('PUT', `/v1/prices/${ids.price}`, { body: { group_id: group.id } });
  await call('PUT', `/v1/features/${ids.feature}`, { body: { group_id: ids.group } });
  const expansions = documentedExpansions();
  expect(expansions.map(({ resource }) => resource)).toEqual([...FOUND_BY.keys()]);
  const absent: string[] = [];
  for (const { resource, names } of expansions) {
    const path = mustGet(FOUND_BY, resource, 'where a resource is found');
    const find = (expand: string) =>
      path.endsWith('/search')
        ? call('POST', path, { body: { expand } })
        : call('GET', `${path}?expand=${expand}`);
    const shown = async (expand: string): Promise<string[]> => {
      const items: Record<string, unknown>[] = (await find(expand)).body.items;
      return names.filter((name) => items.some((item) => (item[name] ?? null) !== null));
    };
    const all = await shown(names.join(','));
    absent.push(
      ...names.filter((name) => !all.includes(name)).map((name) => `${resource} ${name}`),
    );
    const unasked = resource === 'Invoice' ? names : [];
    expect([resource, await shown('')]).toEqual([resource, unasked]);
    const { status, body } = await find('colour');
    const [, possible = ''] =
      /^expand: cannot expand colour; name one of (.*)$/.exec(body.message) ?? [];
    expect([resource, status, possible.split(', ').sort()]).toEqual([
      resource,
      400,
      [...names].sort(),
    ]);
  }
  expect(absent).toEqual(NOT_FILLED);
}
