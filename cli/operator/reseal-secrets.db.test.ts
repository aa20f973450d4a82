import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { TOKEN_SECRET } from '../../billing-api/testing/billing-harness.js';
import { test } from '../../billing-api/testing/billing-test.js';
import { ownerDatabase, ownerOf } from '../../load-tests/harness/owner.js';
import { runVerb } from '../../load-tests/harness/run-verb.js';
import { createSecretBox } from '../../runtime/secret-box.js';
import { resealSecrets, SEALED_COLUMNS } from './reseal-secrets.js';

const NEXT = 'the next key, of 32 characters at least';
const KEYS = { next: NEXT, previous: TOKEN_SECRET };
const columnRow = z.object({ place: z.string() });

describe('minutebook secrets reseal', () => {
  test('keeps every secret with the new key, may be repeated, and names what no key opens', async ({
    api,
    database,
  }) => {
    const secrets = { access_key_id: 'example', secret_access_key: 'example' };
    const connection = { name: 'Lake', provider_type: 's3', secrets };
    const { id } = await api.make('/v1/connections', connection);
    const endpoint = await api.make('/v1/webhooks/endpoints', { url: 'http://127.0.0.1:9/hook' });
    await api.call('POST', `/v1/webhooks/endpoints/${endpoint.id}/rotate_secret`);
    const owner = await ownerDatabase(database.url);
    const wrong = { next: NEXT, previous: `${TOKEN_SECRET}!` };
    await expect(resealSecrets(owner, wrong)).rejects.toThrow(`the secret of ${id} is sealed with`);
    expect(await resealSecrets(owner, KEYS)).toEqual({ resealed: 3, unchanged: 0 });
    expect(await resealSecrets(owner, KEYS)).toEqual({ resealed: 0, unchanged: 3 });
    const row = z.object({ secrets: z.instanceof(Buffer) });
    const kept = await ownerOf(database.database).one(sql.type(row)`
      SELECT secrets FROM connections WHERE id = ${id}`);
    const place = { ...api.environment, table: 'connections', id };
    expect(JSON.parse(await createSecretBox(NEXT).open(kept.secrets, place))).toEqual(secrets);
    await expect(createSecretBox(TOKEN_SECRET).open(kept.secrets, place)).rejects.toThrow();
  });

  test('as an operator runs it, says what it did, and which setting is missing', async ({
    api,
    database,
  }) => {
    await api.make('/v1/webhooks/endpoints', { url: 'http://127.0.0.1:9/hook' });
    const settings = { DATABASE_URL: database.url, MINUTEBOOK_SECRETS_KEY: NEXT };
    const missing = await runVerb(settings, 'secrets', 'reseal');
    expect(missing).toMatchObject({
      status: 1,
      said: expect.stringMatching(/^set MINUTEBOOK_PREVIOUS_SECRETS_KEY/),
    });
    const both = { ...settings, MINUTEBOOK_PREVIOUS_SECRETS_KEY: TOKEN_SECRET };
    const done = await runVerb(both, 'secrets', 'reseal');
    expect([done.status, done.said]).toEqual([0, expect.stringMatching(/^1 secrets were sealed/)]);
  });

  test('knows every column with a sealed secret', async ({ database }) => {
    const found = await ownerOf(database.database).any(sql.type(columnRow)`
      SELECT table_name || '.' || column_name AS place FROM information_schema.columns
      WHERE table_schema = 'public' AND data_type = 'bytea' AND column_name LIKE '%secret%'
        -- A hash is never opened again.
        AND column_name NOT LIKE '%hash'
      ORDER BY place`);
    const known = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`);
    expect(found.map(({ place }) => place)).toEqual([...known].sort());
  });
});
