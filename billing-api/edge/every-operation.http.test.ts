import { describe, expect } from 'vitest';
import { DependencyError } from '../../runtime/failure.js';
import { OPERATIONS } from '../generated/operations.js';
import { API_KEY } from '../testing/billing-harness.js';
import { test } from '../testing/billing-test.js';
import { fillEnvironment, FILLED_AT } from '../testing/filled-environment.js';
import { addressOf, sampleOf } from '../testing/sample-requests.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
// What removes comes last: an environment has one test clock.
const writing = OPERATIONS.filter(
  ({ access, isPublic, servedBy }) => !isPublic && servedBy === 'billing-api' && access === 'write',
).sort((left, right) => Number(left.method === 'DELETE') - Number(right.method === 'DELETE'));

describe('every operation that writes', () => {
  test(
    'answers what it has stored, also when the database fails right after',
    {
      timeout: 60_000,
    },
    async ({ api, database: { database }, clickhouse, clock }) => {
      clock.set(FILLED_AT);
      const tools = { api, database, clickhouse: clickhouse.client };
      const place = { suffix: '', partition: 0 };
      const own = await fillEnvironment(tools, { environment: api.environment }, place);
      let commits = 0;
      const refuseAfterCommit = (): void => {
        if (commits === 0) return;
        throw new DependencyError('down', { dependency: 'postgres', isRetryable: true });
      };
      const write = database.asEnvironment.bind(database);
      const read = database.readSnapshot.bind(database);
      database.asEnvironment = async (environment, work) => {
        refuseAfterCommit();
        const result = await write(environment, work);
        commits += 1;
        return result;
      };
      database.readSnapshot = (environment, work) => {
        refuseAfterCommit();
        return read(environment, work);
      };
      for (const { id, method, path } of writing) {
        const request = sampleOf(id, own, '-once');
        commits = 0;
        const options = request.body === undefined ? {} : { body: request.body };
        const { status, body } = await own.call(method, addressOf(path, request), options);
        const text = status < 300 ? '' : JSON.stringify(body);
        expect([id, text, commits]).toEqual([id, '', 1]);
      }
    },
  );
});

describe('every path', () => {
  test('answers 405 to each method that it does not have, and names those it has', async ({
    api,
  }) => {
    for (const path of new Set(OPERATIONS.map((operation) => operation.path))) {
      const own = OPERATIONS.filter((operation) => operation.path === path);
      const methods: readonly string[] = own.map(({ method }) => method);
      const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort();
      const address = path.replaceAll(/\{\w+\}/g, 'x');
      for (const method of METHODS.filter((each) => !methods.includes(each))) {
        const headers = { 'x-api-key': API_KEY };
        const answer = await fetch(`${api.url}${address}`, { method, headers });
        const allow = (answer.headers.get('allow') ?? '').split(', ').sort();
        await answer.arrayBuffer();
        expect([method, path, answer.status, allow]).toEqual([method, path, 405, allowed]);
      }
    }
  });
});
