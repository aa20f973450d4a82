import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lint } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../runtime/project.js';
import { OPERATIONS } from '../generated/operations.js';
import type { Operation } from './operation-table.js';

type Json = Readonly<Record<string, unknown>>;
type Described = {
  readonly summary?: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Json[];
  readonly requestBody?: unknown;
  readonly 'x-codeSamples'?: readonly { readonly label: string; readonly source: string }[];
  readonly 'x-refusals'?: readonly { readonly status: number; readonly when: string }[];
  readonly responses: Readonly<Record<string, Json>>;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>;
};

const FILE = join(projectRoot, 'billing-api', 'generated', 'openapi.json');
const document = JSON.parse(readFileSync(FILE, 'utf8')) as Document;

function resolved(value: Json): Json {
  const reference = value['$ref'];
  if (typeof reference !== 'string') return value;
  const [, , kind = '', name = ''] = reference.split('/');
  return resolved(document.components[kind]?.[name] ?? {});
}

function describedOf({ method, path }: Operation): Described {
  const found = document.paths[path.replace(/^\/v1(?=\/)/, '')]?.[method.toLowerCase()];
  if (found === undefined) throw new Error(`${method} ${path} is not in the document`);
  return found;
}

const parametersOf = (operation: Operation): unknown[] =>
  (describedOf(operation).parameters ?? []).map((each) => resolved(each)['name']);

const headersOf = (response: Json): string[] =>
  Object.keys((resolved(response)['headers'] ?? {}) as Json);

const each = describe.for(
  OPERATIONS.map((operation) => [`${operation.method} ${operation.path}`, operation] as const),
);

type Schema = {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
};

const schemaOf = (name: string): Schema => (document.components['schemas']?.[name] ?? {}) as Schema;
const nameOf = ($ref: string): string => $ref.replace('#/components/schemas/', '');

/** Whether a member says what it means, itself or by what it refers to. */
function isDescribed({ $ref, description, allOf = [], anyOf = [], items }: Schema): boolean {
  if (description !== undefined) return true;
  if ($ref !== undefined) return isDescribed(schemaOf(nameOf($ref)));
  return [...allOf, ...anyOf, ...(items === undefined ? [] : [items])].some(isDescribed);
}

/** What finance reads: invoices with their lines, explanations, the ledger and wallets. */
const OF_MONEY =
  /^(Invoice|CouponApplication|AppliedTax|Expla|Posting|Ledger|AccountBalance|Wallet|RealTimeWallet|Balance|PaidLine|LineDiff|LineEvent).*Dto$/;

describe('the document', () => {
  it('has a request sample of every operation in curl, TypeScript and Python', () => {
    const without = OPERATIONS.filter((operation) => {
      const samples = describedOf(operation)['x-codeSamples'] ?? [];
      const labels = samples.map(({ label }) => label);
      return labels.join() !== 'curl,TypeScript,Python' || samples.some(({ source }) => !source);
    });
    expect(without.map(({ id }) => id)).toEqual([]);
  });

  it('lists refusals of single operations under statuses that these have', () => {
    const listed = OPERATIONS.flatMap((operation) => {
      const { responses, 'x-refusals': refusals = [] } = describedOf(operation);
      return refusals.map(({ status, when }) => ({
        id: operation.id,
        status,
        when,
        isRight: responses[status] !== undefined && when.length > 5,
      }));
    });
    expect(listed.length).toBeGreaterThan(100);
    expect(listed.filter(({ isRight }) => !isRight)).toEqual([]);
  });

  it('describes every member of what finance reads', () => {
    const schemas = Object.keys(document.components['schemas'] ?? {});
    const ofMoney = schemas.filter((name) => OF_MONEY.test(name));
    const members = ofMoney.flatMap((name) =>
      Object.entries(schemaOf(name).properties ?? {}).map(
        ([member, schema]) => [`${name}.${member}`, schema] as const,
      ),
    );
    expect(members.length).toBeGreaterThan(400);
    const missing = members.filter(([, schema]) => !isDescribed(schema));
    expect(missing.map(([name]) => name)).toEqual([]);
  });

  it('has every operation of the table, and no other', () => {
    const names = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const declared = OPERATIONS.map(
      ({ method, path }) => `${method} ${path.replace(/^\/v1(?=\/)/, '')}`,
    );
    expect(names.sort()).toEqual(declared.sort());
  });

  it('answers every removal with 200 and a body, but for the five that typed clients want empty', () => {
    const removals = OPERATIONS.filter(({ method }) => method === 'DELETE');
    const statusOf = (operation: Operation) =>
      Object.keys(describedOf(operation).responses).filter((status) => status.startsWith('2'));
    const empty = removals.filter((operation) => !statusOf(operation).includes('200'));
    expect(empty.map(({ path }) => path).sort()).toEqual([
      '/v1/customers/{id}',
      '/v1/groups/{id}',
      '/v1/secrets/api/keys/{id}',
      '/v1/tasks/scheduled/{id}',
      '/v1/taxes/rates/{id}',
    ]);
    expect(new Set(removals.flatMap(statusOf))).toEqual(new Set(['200', '204']));
  });

  it('answers removals of records with a message alone, and others with the record they leave', () => {
    const removals = OPERATIONS.filter(({ method }) => method === 'DELETE');
    const answerOf = (operation: Operation): string => {
      const response = resolved(describedOf(operation).responses['200'] ?? {});
      const content = response['content'] as Readonly<Record<string, Json>> | undefined;
      const schema = (content?.['application/json']?.['schema'] ?? {}) as Json;
      return String(schema['$ref'] ?? '').replace('#/components/schemas/', '');
    };
    const others = removals
      .map((operation) => `${operation.path} ${answerOf(operation)}`)
      .filter((text) => !text.endsWith(' ') && !text.endsWith(' MessageDto'));
    expect(others.sort()).toEqual([
      '/v1/invoices/{id}/line_items/{line_id} InvoiceDto',
      '/v1/settings/{key} SettingDto',
      '/v1/subscriptions/addon RemovedAddonDto',
      '/v1/subscriptions/lineitems/{id} LineItemDto',
      '/v1/taxes/associations/{id} ArchivedTaxAssociationDto',
    ]);
    const { properties, required } = document.components['schemas']?.['MessageDto'] ?? {};
    expect([Object.keys((properties ?? {}) as Json), required]).toEqual([['message'], ['message']]);
  });

  it('passes the linter', async () => {
    const config = await createConfig({
      extends: ['recommended'],
      rules: {
        'operation-summary': 'error',
        'security-defined': 'error',
        'operation-operationId-unique': 'error',
        'no-invalid-media-type-examples': 'error',
        'no-unused-components': 'error',
        // A resource needs no words beside its operations.
        'tag-description': 'off',
        // Where two paths meet, the one with the fixed segment is taken; the build checks it.
        'no-ambiguous-paths': 'off',
        // The operational routes refuse nobody.
        'operation-4xx-response': 'off',
      },
    });
    const problems = await lint({ ref: FILE, config });
    const found = problems.map(
      ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`,
    );
    expect(found).toEqual([]);
  });
});

each('%s', ([, operation]) => {
  const { isPublic, isRepeatable, isVersioned, method, successStatus, servedBy } = operation;
  const described = describedOf(operation);
  const errors = Object.entries(described.responses).filter(([status]) => Number(status) >= 400);

  it('says in a sentence what it does, and whether it needs a key', () => {
    expect(described.summary).toMatch(/^[A-Z]/);
    const token = servedBy === 'ingest' ? [] : [{ BearerAuth: [] }];
    expect(described.security).toEqual(isPublic ? [] : [{ ApiKeyAuth: [] }, ...token]);
  });

  it('has an example for every error, with its own status', () => {
    for (const [status, response] of errors) {
      const content = Object.values((resolved(response)['content'] ?? {}) as Record<string, Json>);
      for (const { example, examples } of content) {
        const values = Object.values((examples ?? {}) as Record<string, Json>);
        const bodies = example === undefined ? values.map(({ value }) => value) : [example];
        expect([status, bodies.length > 0]).toEqual([status, true]);
        if (isPublic && operation.servedBy === 'billing-api' && method === 'GET') continue;
        for (const body of bodies) expect(body).toHaveProperty('http_status_code', Number(status));
      }
    }
  });

  it('takes If-Match and Idempotency-Key only where they do something', () => {
    const names = parametersOf(operation);
    const isCompared = isVersioned && (method === 'GET' || method === 'PUT');
    expect(names.includes('If-Match')).toBe(isCompared);
    // The event routes derive ids of events from the key; they store no answer.
    const takesKey = isRepeatable || operation.servedBy === 'ingest';
    expect(names.includes('Idempotency-Key')).toBe(takesKey);
    // Creating a user is not repeatable, since its answer has a password; the address may be taken.
    const mayBeTaken = ['SignUp', 'CreateUser'].includes(operation.id);
    // Periods that have ended are billed before what would follow is shown.
    const mayBeOvertaken = ['PreviewSubscriptionChange', 'PreviewModification'].includes(
      operation.id,
    );
    expect('409' in described.responses).toBe(
      isCompared || isRepeatable || mayBeTaken || mayBeOvertaken,
    );
  });

  it('names the headers of its answers', () => {
    const success = headersOf(described.responses[successStatus] ?? {});
    expect(success).toContain('X-Request-ID');
    expect(success.includes('ETag')).toBe(isVersioned);
    expect(success.includes('Idempotency-Replayed')).toBe(isRepeatable);
    expect(success.includes('RateLimit')).toBe(!isPublic);
    for (const [status, response] of errors) {
      const headers = headersOf(response);
      expect([status, headers.includes('X-Request-ID')]).toEqual([status, true]);
      const mayWait = ['429', '503'].includes(status) && !isPublic;
      if (mayWait) expect([status, headers.includes('Retry-After')]).toEqual([status, true]);
    }
  });
});

/** Names of all schemas that are used below a value. */
function schemasBelow(value: unknown, found: Set<string>): Set<string> {
  if (typeof value !== 'object' || value === null) return found;
  for (const [name, member] of Object.entries(value)) {
    const schema =
      name === '$ref' ? /^#\/components\/schemas\/(.*)$/.exec(String(member))?.[1] : undefined;
    if (schema !== undefined && !found.has(schema)) {
      schemasBelow(document.components['schemas']?.[schema], found.add(schema));
    } else schemasBelow(member, found);
  }
  return found;
}

describe('the schemas', () => {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const requested = schemasBelow(
    operations.map(({ requestBody }) => requestBody),
    new Set(),
  );
  const answered = schemasBelow(
    operations.map(({ responses }) => responses),
    new Set(),
  );
  const schemaOf = (name: string): Json => document.components['schemas']?.[name] ?? {};

  it('of requests are closed: an unknown member is refused', () => {
    const open = [...requested].filter((name) => {
      const { properties, additionalProperties } = schemaOf(name);
      return properties !== undefined && additionalProperties === undefined;
    });
    expect(open).toEqual([]);
    expect(requested.size).toBeGreaterThan(20);
  });

  it('of answers are open: a client must bear a member that it does not know', () => {
    const closed = [...answered].filter((name) => schemaOf(name)['additionalProperties'] === false);
    expect(closed).toEqual([]);
    expect(answered.size).toBeGreaterThan(20);
  });
});
