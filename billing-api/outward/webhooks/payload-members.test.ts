import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { isObject } from '../../../contract/is-object.js';
import type { SystemEventName } from '../../domain/lifecycle/system-event-names.js';
import { projectRoot } from '../../../runtime/project.js';
import type { WebhookPayload } from './webhook-payloads.js';

const readJson = (path: string): unknown =>
  JSON.parse(readFileSync(join(projectRoot, path), 'utf8'));

const document = readJson('billing-api/generated/openapi.json');

function at(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((found, name) => (isObject(found) ? found[name] : undefined), value);
}

/** What a reference refers to, also one that a description stands beside (`allOf` of one). */
function resolved(schema: unknown): unknown {
  const all = at(schema, 'allOf');
  if (Array.isArray(all) && all.length === 1) return resolved(all[0]);
  const reference = at(schema, '$ref');
  if (typeof reference !== 'string') return schema;
  return resolved(at(document, ...reference.split('/').slice(1)));
}

/** The members that the payload of an event always has, and those of what it tells of. */
function membersOf(event: string): readonly string[] {
  const content = ['post', 'requestBody', 'content', 'application/json', 'schema'];
  const payload = resolved(at(document, 'x-webhooks', event, ...content));
  const required = (schema: unknown): readonly string[] => {
    const names = at(resolved(schema), 'required');
    return Array.isArray(names) ? (names as string[]) : [];
  };
  return required(payload).flatMap((name) => [
    name,
    ...required(at(payload, 'properties', name)).map((inner) => `${name}.${inner}`),
  ]);
}

describe('the payload of a webhook', () => {
  it('is declared for every event that the product can tell of, and for no other', () => {
    // The compiler checks it.
    expectTypeOf<WebhookPayload['event_type']>().toEqualTypeOf<SystemEventName>();
  });

  // A receiver that was written for an older release reads these: add to the list, and take
  // nothing away.
  const released = readJson('billing-api/outward/webhooks/payload-members.json') as Readonly<
    Record<string, readonly string[]>
  >;

  it.each(Object.keys(released))('of %s keeps the members that it had', (event) => {
    const missing = (released[event] ?? []).filter((name) => !membersOf(event).includes(name));
    expect(missing).toEqual([]);
  });

  it('is kept of every event of the document', () => {
    const events = Object.keys(at(document, 'x-webhooks') as object);
    expect(events.filter((event) => released[event] === undefined)).toEqual([]);
    expect(released['invoice.update.finalized']).toContain('invoice.total');
  });
});
