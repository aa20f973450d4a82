import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { test } from '../../billing-api/testing/billed-test.js';
import { API_KEY } from '../../billing-api/testing/billing-harness.js';
import { subscribeMonthly } from '../../billing-api/testing/subscribe-monthly.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { runVerb } from '../../load-tests/harness/run-verb.js';
import { noRows } from '../../sql/columns.js';

/** Eight processes, some beside each other. */
const PATIENT = { timeout: 180_000 };

describe('the verbs that look', () => {
  test(
    'end with 0 and print the answer as JSON, or with 1 and one line without the key (CLI-4)',
    PATIENT,
    async ({ api, bill, database }) => {
      const { subscription } = await subscribeMonthly(api);
      await bill('2026-12-01T00:30:00.000Z');
      const { items } = await api.make('/v1/invoices/search', { subscription_id: subscription.id });
      const look = (...words: readonly string[]) =>
        runVerb({ MINUTEBOOK_URL: api.url, MINUTEBOOK_API_KEY: API_KEY }, ...words);
      const [preview, invoice, unknown, books] = await Promise.all([
        look('preview', subscription.id, '--json'),
        look('invoice', 'show', items[0].id, '--json'),
        look('invoice', 'show', 'inv_x', '--json'),
        look('verify', '--books'),
      ]);
      const whole = /^[1-9]\d* movements and [1-9]\d* records verified, 0 problems\nno anchor.*\n$/;
      expect(books).toEqual({ status: 0, said: expect.stringMatching(whole) });
      expect([preview.status, invoice.status, unknown.status]).toEqual([0, 0, 1]);
      expect(JSON.parse(preview.said)).toMatchObject({
        subscription_id: subscription.id,
        id: null,
      });
      const { body } = await api.call('GET', `/v1/invoices/${items[0].id}?explain=true`);
      expect(JSON.parse(invoice.said)).toEqual(body);
      expect(unknown.said).toMatch(/^http:\S+ answers 404: [^\n]*inv_x[^\n]*\n$/);

      // From here on nobody is asked (CLI-3).
      const file = join(await mkdtemp(join(tmpdir(), 'bundle-')), 'invoice.json');
      expect((await look('invoice', 'bundle', items[0].id, file)).status).toBe(0);
      const shown = await runVerb({}, 'invoice', 'show', '--bundle', file, '--json');
      const [line] = body.line_items;
      const path = `/v1/invoices/${items[0].id}/line_items/${line.id}/explain`;
      const explained = (await api.call('GET', path)).body;
      expect(JSON.parse(shown.said)).toMatchObject({ id: items[0].id, total: body.total });
      expect(JSON.parse(shown.said).line_items[0].explanation).toEqual(explained);
      const verified = await runVerb({}, 'verify', '--bundle', file);
      expect(verified).toEqual({ status: 0, said: `${items[0].id}  from inputs: same\n` });

      const key = 'sk_of_somebody_else_0123456789';
      const settings = { MINUTEBOOK_URL: api.url, MINUTEBOOK_API_KEY: key };
      const refused = await runVerb(settings, 'preview', subscription.id);
      expect(refused.status).toBe(1);
      expect(refused.said).toMatch(/^[^\n]+ refuses the API key [^\n]+\n$/);
      expect(refused.said).not.toContain(key);

      await ownerOf(database.database).query(sql.type(noRows)`
        UPDATE invoices SET total = total + 1 WHERE invoice_status = 'FINALIZED'`);
      const altered = await look('verify', '--books');
      expect(altered.status).toBe(1);
      for (const said of [/records verified, [1-9]/, / {2}invoice inv_/, /the books are WRONG/]) {
        expect(altered.said).toMatch(said);
      }
    },
  );
});
