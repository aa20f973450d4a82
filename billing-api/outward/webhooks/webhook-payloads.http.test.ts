import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { projectRoot } from '../../../runtime/project.js';
import { test } from '../../testing/billing-test.js';
import { eventsOfPage } from '../../testing/events-of-page.js';
import { fillEnvironment } from '../../testing/filled-environment.js';
import type { Answer } from '../../testing/money-test.js';
import { documentContract } from '../../testing/openapi-contract.js';

describe('the payloads of webhooks', () => {
  test('are in the document for each event of docs/http.md 11.3, and no other', () => {
    const file = join(projectRoot, 'billing-api/generated/openapi.json');
    const document = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>;
    const listed = [...eventsOfPage()].map((name) => name.replace(/ \(.*\)$/, ''));
    const built = listed.filter((name) => name.includes('.'));
    expect(Object.keys(document['x-webhooks'] ?? {})).toEqual(built.sort());
  });

  test('have the members that the document says of their event, which every answer is held to', async ({
    api,
    database,
    clickhouse,
  }) => {
    const tools = { api, database: database.database, clickhouse: clickhouse.client };
    const place = { suffix: '', partition: 0 };
    await fillEnvironment(tools, { environment: api.environment }, place);
    const { items } = (await api.call('GET', '/v1/webhooks/events?limit=1000')).body;
    const contract = documentContract();
    const kinds = new Map<string, Answer>();
    for (const { event_name: name, payload } of items) {
      expect(contract.problemsOfPayload(name, payload)).toEqual([]);
      kinds.set(name, payload);
    }
    expect(kinds.size).toBeGreaterThan(15);
    for (const [name, payload] of kinds) {
      const [key = ''] = Object.keys(payload).filter((member) => member !== 'event_type');
      const without = { event_type: name, [key]: { ...payload[key], id: undefined } };
      expect(contract.problemsOfPayload(name, without)).not.toEqual([]);
      expect(contract.problemsOfPayload(name, { ...payload, event_type: 'other' })).not.toEqual([]);
    }
  });
});
