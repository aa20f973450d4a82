import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { describe, expect } from 'vitest';
import { projectRoot } from '../../runtime/project.js';
import { OPERATIONS } from '../generated/operations.js';
import { test } from '../testing/billing-test.js';
import {
  fillEnvironment,
  FILLED_AT,
  type FilledEnvironment,
} from '../testing/filled-environment.js';
import { addressOf, sampleOf } from '../testing/sample-requests.js';
import type { Operation } from './operation-table.js';

const FOLDER = join(projectRoot, 'billing-api', 'edge');
const ANSWERS = join(FOLDER, 'openapi-examples.json');
/** What was sent for each answer: the request samples of the document. */
const REQUESTS = join(FOLDER, 'openapi-requests.json');
/** Set by `npm run examples`, which writes what this test otherwise compares. */
const IS_RECORDING = process.env['RECORD_EXAMPLES'] === '1';

/** Nearly fifty operations, one after another. */
const GENEROUS = { timeout: 300_000 };

const ID = /\b([a-z]+(?:_[a-z]+)?)_[0-9A-HJKMNP-TV-Z]{26}\b/g;
const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/** What other operations need comes first; what removes comes last. */
const ORDER = ['GET', 'POST', 'PUT', 'DELETE'];
const recorded: readonly Operation[] = OPERATIONS.filter(
  ({ isPublic, servedBy }) => !isPublic && servedBy === 'billing-api',
).sort((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method));

/** What needs no key, and so no filled environment; in this order. */
const SIGN_UP = { email: 'owner@example.com', password: 'correct horse battery' };
const WITHOUT_KEY = [
  ['/auth/signup', { ...SIGN_UP, tenant_name: 'Example Ltd', name: 'Sam' }],
  ['/auth/login', SIGN_UP],
  ['/auth/session', SIGN_UP],
  ['/auth/password', { ...SIGN_UP, new_password: 'battery staple' }],
  ['/webhook-events/invoice.update.finalized', undefined],
] as const;

/** Numbers ids in the order in which they appear, and moves instants of the machine's clock. */
function createStabiliser(): (value: unknown) => unknown {
  const numbers = new Map<string, string>();
  const stableId = (id: string, prefix: string): string => {
    const number = String(numbers.size + 1).padStart(24, '0');
    const known = numbers.get(id) ?? `${prefix}_01${number}`;
    numbers.set(id, known);
    return known;
  };
  return (value) => {
    const text = JSON.stringify(value)
      .replaceAll(ID, stableId)
      .replaceAll(INSTANT, (instant) => (instant > '2026-06' ? FILLED_AT : instant))
      .replaceAll(
        /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g,
        'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1In0.c2lnbmF0dXJl',
      )
      .replaceAll(/\b[sp]k_[A-Za-z0-9]{40}\b/g, `sk_${'A'.repeat(40)}`)
      .replaceAll(/\b([sp]k_)\w{2}\*\*\*\w{2}/g, '$1Ab***yZ')
      .replaceAll(/"password":"\w{20}"/g, '"password":"dJwT7uYhq2LmXc4VbN8e"')
      .replaceAll(/\bpg-[0-9a-f]{32}\b/g, 'pg-5c8f2f3c0f3b4b6e9d7a1e2f3a4b5c6d')
      .replaceAll(/\b[0-9a-f]{64}\b/g, '5c8f2f3c0f3b4b6e'.repeat(4))
      .replaceAll(/\bwhsec_[\w+/=]+/g, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
      .replaceAll(/"preview_token":"[\w-]+"/g, '"preview_token":"eyJhdCI6MTc2ODkwMzIwMDAwMH0"')
      .replaceAll(/(?<=X-Amz-Date=)\d{8}T\d{6}Z|(?<=example%2F)\d{8}(?=%2F)/g, (at) =>
        at.length === 8 ? '20260601' : '20260601T000000Z',
      )
      .replaceAll(/\bCN-[0-9A-Z]{9}\b/g, 'CN-7Q2M8XK4D')
      // Inside the texts of a bundle, instants are numbers.
      .replaceAll(/\b1[78]\d{11}\b/g, (ms) =>
        Number(ms) > Date.parse('2026-06') ? String(Date.parse(FILLED_AT)) : ms,
      );
    return JSON.parse(text) as unknown;
  };
}

type Recorded = {
  readonly answers: Readonly<Record<string, unknown>>;
  readonly requests: Readonly<Record<string, unknown>>;
};

function sorted(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What every operation answers to its sample, by method and path below the server. */
async function recordExamples(filled: FilledEnvironment): Promise<Recorded> {
  const stabilise = createStabiliser();
  const examples: Record<string, unknown> = {};
  const requests: Record<string, unknown> = {};
  const failures: unknown[] = [];
  for (const { id, method, path, successStatus } of recorded) {
    const sample = sampleOf(id, filled);
    const options = sample.body === undefined ? {} : { body: sample.body };
    const { status, headers, body } = await filled.call(method, addressOf(path, sample), options);
    if (status !== successStatus) failures.push([id, status, body]);
    const isFile = String(headers.get('content-type')).includes('application/pdf');
    const name = `${method} ${path.replace(/^\/v1/, '')}`;
    requests[name] = sample;
    if (!isFile) examples[name] = stabilise(body);
  }
  for (const [path, body] of WITHOUT_KEY) {
    const options = body === undefined ? {} : { body };
    const answer = await filled.call('POST', `/v1${path}`, options);
    if (answer.status >= 300) failures.push([path, answer.status, answer.body]);
    examples[`POST ${path}`] = stabilise(answer.body);
    requests[`POST ${path}`] = options;
  }
  expect(failures).toEqual([]);
  // An id that was answered has the same number in the requests.
  return {
    answers: sorted(examples),
    requests: stabilise(sorted(requests)) as Recorded['requests'],
  };
}

async function write(file: string, examples: object): Promise<void> {
  const config = await resolveConfig(file, {
    config: join(projectRoot, '.config', 'prettier.json'),
  });
  writeFileSync(file, await format(JSON.stringify(examples), { ...config, parser: 'json' }));
}

function read(file: string): unknown {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

describe('the examples of the document', () => {
  test(
    'are what the product answers (npm run examples records them anew)',
    GENEROUS,
    async ({ api, database, clickhouse, clock }) => {
      clock.set(FILLED_AT);
      const tools = { api, database: database.database, clickhouse: clickhouse.client };
      const place = { suffix: '', partition: 0 };
      const filled = await fillEnvironment(tools, { environment: api.environment }, place);
      const { answers, requests } = await recordExamples(filled);
      if (IS_RECORDING) {
        await write(ANSWERS, answers);
        await write(REQUESTS, requests);
      }
      expect(read(ANSWERS)).toEqual(answers);
      expect(read(REQUESTS)).toEqual(requests);
    },
  );
});
