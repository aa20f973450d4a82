import { describe, expect } from 'vitest';
import { OPERATIONS } from '../generated/operations.js';
import { test } from '../testing/billing-test.js';
import {
  fillEnvironment,
  FILLED_AT,
  type FilledEnvironment,
} from '../testing/filled-environment.js';
import { addressOf, sampleOf } from '../testing/sample-requests.js';
import { expectExpansions, expectFilters } from '../testing/search-conventions.js';

/** Every operation several times, on a machine that may be busy. */
const GENEROUS = { timeout: 300_000 };

const operations = OPERATIONS.filter(
  ({ isPublic, servedBy }) => !isPublic && servedBy === 'billing-api',
);

/** Where a record is read that is changed at this address. */
function readingAddressOf({ ids }: FilledEnvironment, address: string): string {
  const [path, query] = address.split('?');
  const isByExternalId = path === '/v1/customers' && query !== undefined;
  return isByExternalId ? `/v1/customers/${ids.customer}` : address.replace(/\/payment$/, '');
}

describe('every operation that has it', () => {
  test(
    'takes days, empty lists and expand as docs/http.md 1.6 says, and refuses If-Match of another version',
    GENEROUS,
    async ({ api, database, clickhouse, clock }) => {
      clock.set(FILLED_AT);
      const tools = { api, database: database.database, clickhouse: clickhouse.client };
      const { environment } = api;
      const filled = await fillEnvironment(tools, { environment }, { suffix: '', partition: 0 });
      await expectFilters(filled);
      await expectExpansions(filled);
      const versioned = operations.filter(
        ({ isVersioned, method }) => isVersioned && (method === 'GET' || method === 'PUT'),
      );
      expect(versioned.some(({ method }) => method === 'PUT')).toBe(true);
      for (const { id, method, path } of versioned) {
        const { body, ...rest } = sampleOf(id, filled);
        const address = addressOf(path, rest);
        const options = body === undefined ? {} : { body };
        const read = readingAddressOf(filled, address);
        const before = await api.call('GET', read);
        const headers = { 'if-match': '"999"' };
        const stale = await api.call(method, address, { ...options, headers });
        expect([id, stale.status, stale.body.code]).toEqual([id, 409, 'version_conflict']);
        expect((await api.call('GET', read)).body).toEqual(before.body);
        const current = { 'if-match': before.headers.get('etag') ?? 'none' };
        const fresh = await api.call(method, address, { ...options, headers: current });
        expect([id, fresh.status]).toEqual([id, 200]);
      }
    },
  );
});
