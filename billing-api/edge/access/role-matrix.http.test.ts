import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { projectRoot } from '../../../runtime/project.js';
import type { Answer, BillingUnderTest } from '../../testing/billing-harness.js';
import { makeKey, test } from '../../testing/billing-test.js';
import { KEYED_OPERATIONS, sideBySide } from '../../testing/isolation-world.js';
import { bearer, userWith } from '../../testing/sign-in.js';
import type { Operation } from '../operation-table.js';
import { setTenantLimits } from '../../testing/set-tenant-limits.js';

/** Every operation for every kind of caller, on a machine that may be busy. */
const GENEROUS = { timeout: 600_000 };

type May = (operation: Operation) => boolean;

const isOwnUser: May = ({ entity }) => entity === 'self';
const isEvent = ({ entity }: Operation, access: string, wanted: string): boolean =>
  entity === 'event' && access === wanted;

/** Roles of a caller, and what they permit by docs/http.md 1.11. */
const ROLES: readonly (readonly [roles: readonly string[], may: May])[] = [
  [[], isOwnUser],
  [['unheard_of'], isOwnUser],
  [['super_admin'], () => true],
  [
    ['all_writer'],
    ({ access, entity }) =>
      entity !== 'job' && (access === 'read' || !['setting', 'user_role'].includes(entity ?? '')),
  ],
  [['all_reader'], (each) => (each.access === 'read' && each.entity !== 'job') || isOwnUser(each)],
  [['event_reader'], (each) => isOwnUser(each) || isEvent(each, each.access, 'read')],
  [['event_ingestor'], (each) => isOwnUser(each) || isEvent(each, each.access, 'write')],
  [
    ['event_ingestor', 'event_reader'],
    (each) => isOwnUser(each) || isEvent(each, each.access, each.access),
  ],
];

type Headers = Readonly<Record<string, string>>;

const withKey = (apiKey: string): Headers => ({ 'x-api-key': apiKey });

/** The answer to a request that says nothing but which operation it means. */
function bare(
  api: BillingUnderTest,
  { method, path }: Operation,
  headers: Headers,
): Promise<Answer> {
  // The tenant is the one record that is 403 when it is another one.
  const id = path.startsWith('/v1/tenants/') ? api.environment.tenantId : 'x';
  return api.call(method, path.replaceAll(/\{\w+\}/g, id), { headers });
}

/** Every operation with its answer to this caller. */
function answersFor(api: BillingUnderTest, headers: Headers) {
  const ask = (operation: Operation) => async () => ({
    operation,
    ...(await bare(api, operation, headers)),
  });
  return sideBySide(KEYED_OPERATIONS.map(ask));
}

/** Operations that this caller is refused with 403, by id; none may be 401. */
async function refusedTo(api: BillingUnderTest, headers: Headers): Promise<readonly string[]> {
  const answers = await answersFor(api, headers);
  for (const { operation, status } of answers) {
    expect([operation.id, status]).not.toEqual([operation.id, 401]);
    expect([operation.id, status < 500]).toEqual([operation.id, true]);
  }
  return answers
    .filter(({ status }) => status === 403)
    .map(({ operation }) => operation.id)
    .sort();
}

const idsWhere = (isMeant: May): readonly string[] =>
  KEYED_OPERATIONS.filter(isMeant)
    .map(({ id }) => id)
    .sort();

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

describe('every operation', () => {
  test(
    'is open to the roles that permit it and closed to all others',
    GENEROUS,
    async ({ api, database }) => {
      const { environment } = api;
      for (const [roles, may] of ROLES) {
        const { apiKey } = await makeKey(database.database, { environment, roles });
        const refused = await refusedTo(api, withKey(apiKey));
        expect([roles, refused]).toEqual([roles, idsWhere((each) => !may(each))]);
      }
    },
  );

  test(
    'is as open to a token as to a key of the same user',
    GENEROUS,
    async ({ api, database }) => {
      await setTenantLimits(database.database, api.environment, { users: 100 });
      for (const [roles, may] of ROLES) {
        const { id, token } = await userWith(api, [], `${roles.join('-')}x@example.com`);
        await ownerOf(database.database).query(sql.type(z.unknown())`
        UPDATE users SET roles = ${sql.array([...roles], 'text')} WHERE id = ${id}`);
        const refused = await refusedTo(api, bearer(token, api.environment.environmentId));
        expect([roles, refused]).toEqual([roles, idsWhere((each) => !may(each))]);
      }
    },
  );

  test(
    'is closed to a publishable key, and to a key that is unknown, revoked or expired',
    GENEROUS,
    async ({ api, database }) => {
      const { environment } = api;
      const publishable = await makeKey(database.database, {
        environment,
        type: 'publishable_key',
      });
      const forbidden = exampleOf('Forbidden');
      for (const { operation, status, body } of await answersFor(
        api,
        withKey(publishable.apiKey),
      )) {
        expect([operation.id, status]).toEqual([operation.id, 403]);
        expect(body).toEqual(forbidden);
      }
      const revoked = await makeKey(database.database, { environment });
      const expired = await makeKey(database.database, { environment });
      const owner = ownerOf(database.database);
      const hashOf = (key: string) => sql.fragment`sha256(${key}::bytea)`;
      await owner.query(sql.type(z.unknown())`
        UPDATE secrets SET status = 'deleted' WHERE key_hash = ${hashOf(revoked.apiKey)}`);
      await owner.query(sql.type(z.unknown())`
        UPDATE secrets SET expires_at = now() WHERE key_hash = ${hashOf(expired.apiKey)}`);
      const unknown = `sk_${'z'.repeat(40)}`;
      const unauthenticated = exampleOf('Unauthenticated');
      for (const apiKey of [unknown, revoked.apiKey, expired.apiKey]) {
        for (const { operation, status, body } of await answersFor(api, withKey(apiKey))) {
          expect([operation.id, status]).toEqual([operation.id, 401]);
          expect(body).toEqual(unauthenticated);
        }
      }
    },
  );

  test(
    'needs an environment, unless it is about the tenant as a whole',
    GENEROUS,
    async ({ api }) => {
      const { token } = await userWith(api, ['super_admin']);
      const ofTenant = /^\/v1\/(users|tenants|environments|rbac)\b/;
      for (const { operation, status } of await answersFor(api, bearer(token))) {
        if (!ofTenant.test(operation.path)) {
          expect([operation.id, status]).toEqual([operation.id, 400]);
          continue;
        }
        expect([operation.id, [401, 403].includes(status)]).toEqual([operation.id, false]);
        if (operation.method === 'GET' && !operation.path.endsWith('/{id}')) {
          expect([operation.id, status]).toEqual([operation.id, 200]);
        }
      }
    },
  );

  test(
    'that writes is refused to a suspended tenant, and none that reads',
    GENEROUS,
    async ({ api, database }) => {
      const { environment } = api;
      const { token } = await userWith(api, ['super_admin']);
      await ownerOf(database.database).query(sql.type(z.unknown())`
        UPDATE tenants SET status = 'suspended'`);
      const { apiKey } = await makeKey(database.database, { environment });
      for (const headers of [withKey(apiKey), bearer(token, environment.environmentId)]) {
        const refused = await refusedTo(api, headers);
        expect(refused).toEqual(idsWhere(({ access }) => access === 'write'));
      }
    },
  );
});
