import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../contract/is-object.js';
import { projectRoot } from '../../runtime/project.js';
import type { Operation } from '../edge/operation-table.js';
import type { FilledEnvironment, IdKind } from './filled-environment.js';
import type { SampleRequest } from './sample-requests.js';

type Json = Readonly<Record<string, unknown>>;

/** One place of a request that names something stored, and what kind of thing it names. */
export type IdProbe = {
  /** `body.items.0.plan_id`. */
  readonly place: string;
  readonly kind: IdKind;
  /** The sample with another value there. */
  readonly with: (value: string) => SampleRequest;
};

const ENTITIES: readonly IdKind[] = [
  ...(['plan', 'addon', 'subscription', 'customer', 'linked_customer'] as const),
];

/** What the members of requests name. */
const KINDS_OF_MEMBER: Readonly<Record<string, readonly IdKind[]>> = {
  target_plan_id: ['target_plan'],
  connection_id: ['connection', 'invoice_connection'],
  endpoint_id: ['webhook_endpoint'],
  system_event_id: ['webhook_event'],
  scheduled_task_id: ['scheduled_task'],
  plan_id: ['plan'],
  addon_id: ['addon'],
  meter_id: ['meter'],
  feature_id: ['feature'],
  price_id: ['price'],
  price_unit_id: ['price_unit'],
  parent_price_id: ['price'],
  customer_id: ['customer'],
  invoicing_customer_id: ['customer'],
  subscription_id: ['subscription'],
  parent_subscription_id: ['subscription'],
  parent_entitlement_id: ['entitlement'],
  entity_id: ENTITIES,
  external_customer_id: ['external_customer'],
  invoicing_customer_external_id: ['external_customer'],
  external_id: ['external_customer'],
  event_id: ['event', 'webhook_event'],
  user_id: ['user'],
  service_account_id: ['service_account'],
  group_id: ['group'],
  coupon_id: ['coupon'],
  tax_rate_id: ['tax_rate'],
  invoice_id: ['invoice', 'synced_invoice'],
  workflow_id: ['workflow'],
  subscription_customer_id: ['customer'],
  wallet_id: ['wallet'],
  // Of a payment by credits.
  payment_method_id: ['wallet'],
  destination_id: ['payable'],
  invoice_line_item_id: ['payable_line'],
  grouped_invoicing_child_id: ['subscription'],
  line_item_id: ['line_item'],
  addon_association_id: ['addon_association'],
};

/** Members that name nothing that can be stored yet, or something outside of the product. */
const NAMING_NOTHING = new Set([
  'gateway_payment_method_id',
  'provider_entity_id',
  'provider_subscription_id',
  'signal_id',
  // Of a store of somebody else.
  'access_key_id',
  // Of a workflow, which is named beside it.
  'run_id',
]);

const document = JSON.parse(
  readFileSync(join(projectRoot, 'billing-api', 'generated', 'openapi.json'), 'utf8'),
) as { paths: Json; components: { schemas: Json } };

function resolved(schema: unknown): Json {
  if (!isObject(schema)) return {};
  const reference = schema['$ref'];
  if (typeof reference !== 'string') return schema;
  return resolved(document.components.schemas[reference.split('/').at(-1) ?? '']);
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Places below a schema whose name says that they hold ids. */
function idPlaces(schema: unknown, place: readonly string[]): readonly (readonly string[])[] {
  // No request of ours is nested deeper.
  if (place.length > 8) return [];
  const { properties, items, allOf, anyOf } = resolved(schema);
  const inner = Object.entries(isObject(properties) ? properties : {}).flatMap(([name, member]) => [
    ...(/(^|_)ids?$/.test(name) ? [[...place, name]] : []),
    ...idPlaces(member, [...place, name]),
  ]);
  const alternatives = [...listOf(allOf), ...listOf(anyOf)].flatMap((each) =>
    idPlaces(each, place),
  );
  return [
    ...inner,
    ...alternatives,
    ...(items === undefined ? [] : idPlaces(items, [...place, '0'])),
  ];
}

/** Places of the request that the document names, body and query. */
function documentedPlaces({ method, path }: Operation): readonly (readonly string[])[] {
  const item = document.paths[path.replace(/^\/v1/, '')];
  const operation = resolved(isObject(item) ? item[method.toLowerCase()] : undefined);
  const body = resolved(operation['requestBody']);
  const content = isObject(body['content']) ? Object.values(body['content']) : [];
  const queries = listOf(operation['parameters']).flatMap((parameter) => {
    const { in: where, name } = resolved(parameter);
    const isId = where === 'query' && /(^|_)ids?$/.test(String(name));
    return isId ? [['query', String(name)]] : [];
  });
  return [...queries, ...content.flatMap((each) => idPlaces(resolved(each)['schema'], ['body']))];
}

function withValue(container: unknown, place: readonly string[], value: unknown): unknown {
  const [head, ...rest] = place;
  if (head === undefined) return value;
  if (head === '0') {
    const [first, ...others] = listOf(container);
    return [withValue(first, rest, value), ...others];
  }
  const members = isObject(container) ? container : {};
  return { ...members, [head]: withValue(members[head], rest, value) };
}

function probeAt(sample: SampleRequest, place: readonly string[], kind: IdKind): IdProbe {
  const isList = (place.at(-1) ?? '').endsWith('ids');
  return {
    place: place.join('.'),
    kind,
    with: (value) => withValue(sample, place, isList ? [value] : value) as SampleRequest,
  };
}

/** Places where the sample itself holds an id of its environment. */
function heldPlaces(
  value: unknown,
  ids: FilledEnvironment['ids'],
  place: readonly string[],
): readonly { readonly place: readonly string[]; readonly kind: IdKind }[] {
  if (typeof value === 'string') {
    const kind = (Object.keys(ids) as IdKind[]).find((each) => ids[each] === value);
    return kind === undefined ? [] : [{ place, kind }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => heldPlaces(each, ids, [...place, name]));
}

function kindsOf(name: string): readonly IdKind[] {
  const member = name.replace(/ids$/, 'id');
  if (NAMING_NOTHING.has(member)) return [];
  const kinds = KINDS_OF_MEMBER[member];
  if (kinds !== undefined) return kinds;
  throw new Error(`what does the request member ${name} name? Say it in id-probes.ts`);
}

/** A search for records by their id among the filters. */
function filterProbe(
  operation: Operation,
  sample: SampleRequest,
  ids: FilledEnvironment['ids'],
): readonly IdProbe[] {
  const kind = operation.entity as IdKind;
  if (!operation.path.endsWith('/search') || !(kind in ids)) return [];
  const filterOf = (value: string) => [{ field: 'id', operator: 'eq', value: { string: value } }];
  return [
    {
      place: 'body.filters',
      kind,
      with: (value) => ({ ...sample, body: { filters: filterOf(value) } }),
    },
  ];
}

/**
 * Every place of an operation's request that can name a record: those of its sample, those that
 * the document lists, and the filters of a search.
 */
export function idProbesOf(
  operation: Operation,
  sample: SampleRequest,
  ids: FilledEnvironment['ids'],
): readonly IdProbe[] {
  const held = heldPlaces(sample, ids, []);
  const heldNames = new Set(held.map(({ place }) => place.join('.').replace(/\.0$/, '')));
  const others = documentedPlaces(operation).filter((place) => {
    // The key that a new record gets names nothing yet.
    const isNewKey = operation.access === 'write' && place.at(-1) === 'external_id';
    return !isNewKey && !heldNames.has(place.join('.'));
  });
  return [
    ...held.map(({ place, kind }) => probeAt(sample, place, kind)),
    ...others.flatMap((place) =>
      kindsOf(place.at(-1) ?? '').map((kind) => probeAt(sample, place, kind)),
    ),
    ...filterProbe(operation, sample, ids),
  ];
}
