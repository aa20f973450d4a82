import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { projectRoot } from '../../runtime/project.js';
import { OPERATIONS } from '../generated/operations.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { makeKey, test } from '../testing/billing-test.js';
import { fillEnvironment, FILLED_AT } from '../testing/filled-environment.js';
import { addressOf, sampleOf } from '../testing/sample-requests.js';
import type { Operation } from './operation-table.js';

/** Every operation several times, on a machine that may be busy. */
const GENEROUS = { timeout: 300_000 };

const operations = OPERATIONS.filter(
  ({ isPublic, servedBy }) => !isPublic && servedBy === 'billing-api',
);

type ErrorExample = {
  readonly content: { readonly 'application/json': { readonly example: unknown } };
};

/** The example that the document gives for a response that operations share. */
function exampleOf(response: string): unknown {
  const file = join(projectRoot, 'billing-api', 'generated', 'openapi.json');
  const document = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly components: { readonly responses: Readonly<Record<string, ErrorExample>> };
  };
  return document.components.responses[response]?.content['application/json'].example;
}

/** The answer to a request that says nothing but which operation it means. */
function bare(api: BillingUnderTest, { method, path }: Operation, apiKey: string) {
  const address = path.replaceAll(/\{\w+\}/g, 'x');
  return api.call(method, address, { headers: { 'x-api-key': apiKey } });
}

/** Operations that the key is refused with 403, by id. */
async function refusedTo(api: BillingUnderTest, apiKey: string): Promise<readonly string[]> {
  const refused: string[] = [];
  for (const operation of operations) {
    const { status } = await bare(api, operation, apiKey);
    if (status === 403) refused.push(operation.id);
    else expect([operation.id, status]).not.toEqual([operation.id, 401]);
  }
  return refused.sort();
}

const idsWhere = (isMeant: (operation: Operation) => boolean): readonly string[] =>
  operations
    .filter(isMeant)
    .map(({ id }) => id)
    .sort();

const isOwnUser = ({ entity }: Operation): boolean => entity === 'self';

describe('every operation', () => {
  test('needs a known key that may do what it does', GENEROUS, async ({ api, database }) => {
    const { environment } = api;
    for (const operation of operations) {
      const unknown = await bare(api, operation, `sk_${'z'.repeat(40)}`);
      expect([operation.id, unknown.status]).toEqual([operation.id, 401]);
      expect(unknown.body).toEqual(exampleOf('Unauthenticated'));
    }
    const publishable = await makeKey(database.database, { environment, type: 'publishable_key' });
    expect(await refusedTo(api, publishable.apiKey)).toEqual(idsWhere(() => true));
    for (const operation of operations.slice(0, 3)) {
      const { body } = await bare(api, operation, publishable.apiKey);
      expect(body).toEqual(exampleOf('Forbidden'));
    }
    const cases: readonly (readonly [
      roles: readonly string[],
      may: (each: Operation) => boolean,
    ])[] = [
      [[], isOwnUser],
      [['super_admin'], () => true],
      [['all_writer'], () => true],
      [['all_reader'], ({ access }) => access === 'read'],
      [
        ['event_reader'],
        (each) => isOwnUser(each) || (each.entity === 'event' && each.access === 'read'),
      ],
      [
        ['event_ingestor'],
        (each) => isOwnUser(each) || (each.entity === 'event' && each.access === 'write'),
      ],
      [['unheard_of'], isOwnUser],
    ];
    for (const [roles, may] of cases) {
      const { apiKey } = await makeKey(database.database, { environment, roles });
      const refused = await refusedTo(api, apiKey);
      expect([roles, refused]).toEqual([roles, idsWhere((each) => !may(each))]);
    }
  });

  test(
    'that writes is refused to a suspended tenant, and none that reads',
    GENEROUS,
    async ({ api, database }) => {
      await ownerOf(database.database).query(sql.type(z.unknown())`
      UPDATE tenants SET status = 'suspended'`);
      const { apiKey } = await makeKey(database.database, { environment: api.environment });
      expect(await refusedTo(api, apiKey)).toEqual(idsWhere(({ access }) => access === 'write'));
    },
  );
});

describe('If-Match', () => {
  test(
    'of another version is refused wherever the document has it, and changes nothing',
    GENEROUS,
    async ({ api, database, clickhouse, clock }) => {
      clock.set(FILLED_AT);
      const tools = { api, database: database.database, clickhouse: clickhouse.client };
      const { environment } = api;
      const filled = await fillEnvironment(tools, { environment }, { suffix: '', partition: 0 });
      const versioned = operations.filter(
        ({ isVersioned, method }) => isVersioned && (method === 'GET' || method === 'PUT'),
      );
      expect(versioned.some(({ method }) => method === 'PUT')).toBe(true);
      for (const { id, method, path } of versioned) {
        const { body, ...rest } = sampleOf(id, filled);
        const address = addressOf(path, rest);
        const options = body === undefined ? {} : { body };
        const before = await api.call('GET', address);
        const headers = { 'if-match': '"999"' };
        const stale = await api.call(method, address, { ...options, headers });
        expect([id, stale.status, stale.body.code]).toEqual([id, 409, 'version_conflict']);
        expect((await api.call('GET', address)).body).toEqual(before.body);
        const current = { 'if-match': before.headers.get('etag') ?? 'none' };
        const fresh = await api.call(method, address, { ...options, headers: current });
        expect([id, fresh.status]).toEqual([id, 200]);
      }
    },
  );
});
