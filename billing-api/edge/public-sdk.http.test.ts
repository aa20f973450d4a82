import { describe, expect } from 'vitest';
import { isObject } from '../../contract/is-object.js';
import { OPERATIONS } from '../generated/operations.js';
import { API_KEY } from '../testing/billing-harness.js';
import { test } from '../testing/billing-test.js';
import {
  fillEnvironment,
  FILLED_AT,
  type FilledEnvironment,
} from '../testing/filled-environment.js';
import { obtainSdk, ZOD_VERSIONS, type SdkFunction } from '../testing/public-sdk.js';
import { sampleOf, type SampleRequest } from '../testing/sample-requests.js';
import type { Operation } from './operation-table.js';

/** A hundred and fifty operations, one after another. */
const GENEROUS = { timeout: 300_000 };

type Members = Readonly<Record<string, unknown>>;

/** Objects whose names are of the client's choice: the SDK hands them on as they are. */
const FREE_FORM = new Set(['metadata', 'properties', 'property_filters', 'filter_values']);

/** What the SDK demands beside the members of our sample, or sends in another form. */
const WANTED: Readonly<Record<string, (ids: FilledEnvironment['ids']) => Members>> = {
  addonsCreateAddon: () => ({ type: 'onetime' }),
  customersCreateCustomer: () => ({
    integrationEntityMapping: undefined,
    taxRateOverrides: undefined,
  }),
  customersGetCustomerUsageSummary: (ids) => ({ customerId: ids.customer }),
  entitlementsCreateEntitlement: () => ({ featureType: 'metered' }),
  entitlementsCreateEntitlementsBulk: (ids) => ({
    items: [
      {
        entityId: ids.spare_plan,
        entityType: 'PLAN',
        featureId: ids.feature,
        featureType: 'metered',
        usageLimit: 100,
      },
    ],
  }),
  creditGrantsCreateCreditGrant: (ids) => ({ scope: 'PLAN', planId: ids.plan }),
  plansCreatePlan: () => ({ metadata: { tier: '3' } }),
  pricesCreatePrice: () => ({
    ...priceOf('TIERED', { tierMode: 'VOLUME' }),
    tiers: [{ upTo: 1000, unitAmount: '0' }, { unitAmount: '0.0025' }],
  }),
  pricesCreatePricesBulk: (ids) => ({
    items: [
      {
        entityId: ids.plan,
        currency: 'eur',
        amount: '45',
        ...priceOf('FLAT_FEE', { billingPeriod: 'MONTHLY', type: 'FIXED' }),
      },
    ],
  }),
  subscriptionsCreateSubscription: () => ({
    billingCadence: 'RECURRING',
    taxRateOverrides: undefined,
  }),
  usersCreateUser: () => ({ type: 'service_account', roles: ['event_reader'] }),
  invoicesUpdateInvoicePaymentStatus: () => ({ paymentStatus: 'PENDING' }),
};

const priceOf = (billingModel: string, differing: Members): Members => ({
  billingCadence: 'RECURRING',
  billingModel,
  entityType: 'PLAN',
  type: 'USAGE',
  invoiceCadence: 'ARREAR',
  priceUnitType: 'FIAT',
  ...differing,
});

/** What the SDK and this product cannot agree on, each with its reason (docs/http.md 18). */
const UNLIKE = [
  // The specification has 202 with a workflow; the SDK waits for the invoice.
  'invoicesRecalculateInvoice',
  // Every list here has one shape (docs/http.md 1.6); the SDK wants a bare array.
  'subscriptionsGetSubscriptionAddonAssociations',
  'taxRatesGetTaxRates',
  'walletsGetWalletsByCustomerId',
];

/** Where the SDK reads nothing of our answer: with older versions of zod it does not notice. */
const UNREAD = [
  // The specification has a list of entitlements; the SDK wants the plan.
  'entitlementsGetPlanEntitlements',
];

const camel = (name: string): string =>
  name.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());

/** A body as the SDK wants it. */
function toSdk(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSdk);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      camel(name),
      FREE_FORM.has(name) ? inner : toSdk(inner),
    ]),
  );
}

/** A value of a path or query in its type: the SDK takes numbers and flags as such. */
function typed(name: string, text: string): unknown {
  if (name === 'limit' || name === 'offset') return Number(text);
  if (name === 'group_by' || name === 'feature_ids') return [text];
  return text === 'true' ? true : text;
}

/** The arguments of a function for a sample request. */
function argumentsOf(sdk: SdkFunction, sample: SampleRequest, wanted: Members): readonly unknown[] {
  const body = { ...(toSdk(sample.body ?? {}) as Members), ...wanted };
  const query = Object.fromEntries(
    Object.entries(sample.query ?? {}).map(([name, text]) => [camel(name), typed(name, text)]),
  );
  const values = Object.values(sample.path ?? {});
  const places = [...sdk.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => camel(name));
  const path = Object.fromEntries(places.map((name, index) => [name, values[index]]));
  const inQuery = { ...path, idPathParameter: path['id'], ...query };
  return sdk.parameters.map((name) => {
    if (name === 'request') return { ...inQuery, ...body };
    if (name === 'body') return body;
    return path[name] ?? query[name];
  });
}

const nameless = (path: string): string =>
  path.replaceAll(/\{\w+\}/g, '{}').replace(/^\/v1(?=\/)/, '');

/** What other operations need comes first; what removes comes last. */
const ORDER = ['GET', 'POST', 'PUT', 'DELETE'];

/** The functions of the SDK that call an operation of ours. */
function pairsOf(functions: readonly SdkFunction[]) {
  return OPERATIONS.filter(({ servedBy }) => servedBy === 'billing-api')
    .flatMap((operation: Operation) =>
      functions
        .filter(
          ({ method, path }) =>
            method === operation.method && nameless(path) === nameless(operation.path),
        )
        .map((sdk) => ({ operation, sdk })),
    )
    .sort((a, b) => ORDER.indexOf(a.sdk.method) - ORDER.indexOf(b.sdk.method));
}

const offers = await Promise.all(
  ZOD_VERSIONS.map(async ({ zod, isStrict }) => ({ zod, isStrict, offer: await obtainSdk(zod) })),
);

describe.each(offers)('a public SDK of the same domain with zod $zod', ({ isStrict, offer }) => {
  test.skipIf(offer.open === null)(
    `calls every operation that both have, and reads every answer (${offer.skipReason ?? 'fetched'})`,
    GENEROUS,
    async ({ api, database, clickhouse, clock }) => {
      clock.set(FILLED_AT);
      const tools = { api, database: database.database, clickhouse: clickhouse.client };
      const place = { suffix: '', partition: 0 };
      const filled = await fillEnvironment(tools, { environment: api.environment }, place);
      const functions = (await offer.open?.({ url: api.url, apiKey: API_KEY })) ?? [];
      const pairs = pairsOf(functions);
      expect(pairs.length).toBeGreaterThan(140);
      const failures = new Map<string, string>();
      for (const { operation, sdk } of pairs) {
        const wanted = WANTED[sdk.name]?.(filled.ids) ?? {};
        const values = argumentsOf(sdk, sampleOf(operation.id, filled), wanted);
        const outcome = await sdk.call(values);
        if (outcome.ok) continue;
        failures.set(sdk.name, `${outcome.error.message} ${JSON.stringify(values)}`.slice(0, 900));
      }
      for (const name of [...UNLIKE, ...(isStrict ? UNREAD : [])]) {
        expect(failures.has(name)).toBe(true);
        failures.delete(name);
      }
      expect(Object.fromEntries(failures)).toEqual({});
    },
  );
});
