import type { Request, RequestHandler } from 'express';
import { sql } from 'slonik';
import { z } from 'zod';
import { isObject } from '../../contract/is-object.js';
import { isOfEnvironment } from '../records/conditions.js';
import type { BillingDatabase } from '../records/unit.js';
import { operationIfDeclared } from './operations.js';
import { contextOf } from './request-context.js';

/** A resource whose records can be named by their lookup keys. */
export type KeyedResource = {
  readonly table: string;
  /** Of its ids: `plan` of `plan_01…`. */
  readonly idPrefix: string;
  /** The segment of its paths: `plans` of `/v1/plans/{id}`. */
  readonly collection: string;
  /** Members of bodies that name one record, or a list of them. */
  readonly members: readonly string[];
  /** Members of bodies that are objects whose keys name records. */
  readonly keysOf?: readonly string[];
  /** The `entity_type` of a record that `entity_id` names. */
  readonly entityType?: string;
};

/** A place of a request that names a record by a text that is no id of its resource. */
type Place = {
  readonly resources: readonly KeyedResource[];
  readonly text: string;
  readonly put: (id: string) => void;
};

type Holder = Record<string, unknown>;

/** Objects whose members the caller chooses: they name no records of ours. */
const FREE_FORM = new Set(['metadata', 'filter_values', 'property_filters', 'properties']);

/** Whether a text can be a lookup key of a resource; what looks like an id of it is one. */
function isKeyOf({ idPrefix }: KeyedResource, text: string): boolean {
  return text !== '' && text.length <= 255 && !text.startsWith(`${idPrefix}_`);
}

class PlaceFinder {
  readonly places: Place[] = [];

  constructor(private readonly resources: readonly KeyedResource[]) {}

  note(resources: readonly KeyedResource[], text: unknown, put: (id: string) => void): void {
    if (typeof text !== 'string') return;
    // An id of one of them is no key of the others.
    if (resources.length > 0 && resources.every((resource) => isKeyOf(resource, text))) {
      this.places.push({ resources, text, put });
    }
  }

  #noteMember(holder: Holder, name: string): void {
    const value = holder[name];
    const named = this.resources.filter(({ members }) => members.includes(name));
    if (Array.isArray(value)) {
      for (const [index, text] of value.entries()) {
        this.note(named, text, (id) => (value[index] = id));
      }
      return;
    }
    this.note(named, value, (id) => (holder[name] = id));
    const keyed = this.resources.filter(({ keysOf = [] }) => keysOf.includes(name));
    if (!isObject(value) || keyed.length === 0) return;
    for (const key of Object.keys(value)) {
      this.note(keyed, key, (id) => {
        const inner = value[key];
        delete value[key];
        value[id] = inner;
      });
    }
  }

  #noteEntity(holder: Holder): void {
    const { entity_type: type } = holder;
    const owners = this.resources.filter(
      ({ entityType }) => entityType !== undefined && (type === undefined || type === entityType),
    );
    this.note(owners, holder['entity_id'], (id) => (holder['entity_id'] = id));
  }

  walk(value: unknown): void {
    if (Array.isArray(value)) for (const each of value) this.walk(each);
    if (!isObject(value)) return;
    this.#noteEntity(value);
    for (const name of Object.keys(value)) {
      if (FREE_FORM.has(name)) continue;
      this.#noteMember(value, name);
      this.walk(value[name]);
    }
  }
}

/** The place of a path such as `/v1/plans/{id}/entitlements`. */
function notePath(
  request: Request,
  operationPath: string,
  { finder, resources }: { finder: PlaceFinder; resources: readonly KeyedResource[] },
): void {
  const [, , collection, parameter] = operationPath.split('/');
  if (parameter !== '{id}') return;
  const named = resources.filter((resource) => resource.collection === collection);
  // Without `/v1`, below which this stands.
  const [path = '', ...query] = request.url.split('?');
  const segments = path.split('/');
  finder.note(named, decodeURIComponent(segments[2] ?? ''), (id) => {
    segments[2] = encodeURIComponent(id);
    request.url = [segments.join('/'), ...query].join('?');
  });
}

const keyRow = z.object({ id: z.string(), lookup_key: z.string() });

/** Ids of the published records with these lookup keys, by resource and key. */
async function findIds(
  database: BillingDatabase,
  environment: Parameters<BillingDatabase['readSnapshot']>[0],
  places: readonly Place[],
): Promise<ReadonlyMap<KeyedResource, ReadonlyMap<string, string>>> {
  const resources = [...new Set(places.flatMap((place) => place.resources))];
  return database.readSnapshot(environment, async (tx) => {
    const found = new Map<KeyedResource, ReadonlyMap<string, string>>();
    for (const resource of resources) {
      const own = places.filter((place) => place.resources.includes(resource));
      const keys = sql.array([...new Set(own.map(({ text }) => text))], 'text');
      const rows = await tx.any(sql.type(keyRow)`
        SELECT id, lookup_key FROM ${sql.identifier([resource.table])}
        WHERE lookup_key = ANY (${keys}) AND status = 'published' AND ${isOfEnvironment}`);
      found.set(resource, new Map(rows.map((row) => [row.lookup_key, row.id])));
    }
    return found;
  });
}

/**
 * Takes the lookup key of a record wherever its id is taken, in paths and bodies
 * (docs/http.md 1.1).
 * A text that no record has as its key stays as it is, so that the answer names what was sent. It
 * stands behind the idempotency check, so that a retry is compared with what was sent.
 */
export function createKeyResolver(
  database: BillingDatabase,
  resources: readonly KeyedResource[],
): RequestHandler {
  const resolve = async (request: Request): Promise<void> => {
    const operation = operationIfDeclared(request);
    const { caller } = contextOf(request);
    if (operation === null || caller === null || !caller.hasChosenEnvironment) return;
    const finder = new PlaceFinder(resources);
    notePath(request, operation.path, { finder, resources });
    finder.walk(request.body);
    const { places } = finder;
    if (places.length === 0) return;
    const found = await findIds(database, caller.environment, places);
    for (const { resources: candidates, text, put } of places) {
      const [id] = candidates.flatMap((resource) => found.get(resource)?.get(text) ?? []);
      if (id !== undefined) put(id);
    }
  };
  return (request, _response, next) => {
    resolve(request).then(() => next(), next);
  };
}
