import express, { type Request, type RequestHandler } from 'express';
import { HttpFailure } from './failure.js';

const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** Deeper than any request of ours; a recursive reader must not meet a deeper one. */
const DEPTH_MAX = 32;

/** Members whose keys belong to the caller: nothing is taken out of them. */
const FREE_FORM = new Set(['metadata', 'filter_values']);

/**
 * Optional enumerations, for which an empty text means absent (domain.md 3.1); references end in
 * `_id`.
 */
const ENUMERATIONS = new Set([
  'type',
  'billing_model',
  'billing_cadence',
  'billing_period',
  'billing_cycle',
  'bucket_size',
  'collection_method',
  'commitment_duration',
  'data_type',
  'direction',
  'entity_type',
  'invoice_cadence',
  'operator',
  'payment_behavior',
  'payment_terms',
  'price_unit_type',
  'proration_behavior',
  'reset_usage',
  'round',
  'status',
  'subscription_status',
  'tier_mode',
  'window_size',
]);

const UNSTORABLE = /\u0000|\p{Surrogate}/u;

function refuse(message: string): never {
  throw new HttpFailure(400, 'validation_error', { message });
}

function isAbsent(name: string, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return value === '' && (ENUMERATIONS.has(name) || name.endsWith('_id'));
}

/** Free-form objects keep every member; filters are free-form unless they are a list. */
function isFreeForm(name: string, value: unknown): boolean {
  return FREE_FORM.has(name) || (name === 'filters' && !Array.isArray(value));
}

function checkText(text: string): void {
  if (UNSTORABLE.test(text)) refuse('a text contains U+0000 or half of a surrogate pair');
}

type Walk = { readonly keepsAll: boolean; readonly depth: number };

function normalised(value: unknown, walk: Walk): unknown {
  if (typeof value === 'string') checkText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (walk.depth > DEPTH_MAX) refuse(`the body is nested deeper than ${DEPTH_MAX} levels`);
  const inner = { ...walk, depth: walk.depth + 1 };
  if (Array.isArray(value)) return value.map((item) => normalised(item, inner));
  const kept: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    checkText(name);
    if (!walk.keepsAll && isAbsent(name, member)) continue;
    const keepsAll = walk.keepsAll || isFreeForm(name, member);
    kept.push([name, normalised(member, { keepsAll, depth: walk.depth + 1 })]);
  }
  return Object.fromEntries(kept);
}

function hasBody(request: Request): boolean {
  const length = request.get('content-length');
  return request.get('transfer-encoding') !== undefined || (length !== undefined && length !== '0');
}

/** U+0000 in a path or query names nothing that a database could hold. */
export const checkUrl: RequestHandler = (request, _response, next) => {
  if (request.url.includes('%00')) refuse('the address contains U+0000');
  next();
};

/** A body must say that it is JSON; one without a body may say anything. */
export const requireJson: RequestHandler = (request, _response, next) => {
  if (hasBody(request) && request.is('application/json') === false) {
    refuse('Content-Type must be application/json');
  }
  next();
};

/** Parses JSON of at most 2 MiB after decompression (api.md 1.1, 1.7). */
export const parseJson: RequestHandler = express.json({
  limit: BODY_BYTES_MAX,
  type: 'application/json',
});

/**
 * Null members of a POST body count as absent, as do empty texts of optional enumerations and
 * references (domain.md 3.1). In a PUT body null clears a member, so it is left as it is. Texts
 * that no database could store are refused here, once for all.
 */
export const normaliseBody: RequestHandler = (request, _response, next) => {
  if (request.body !== undefined) {
    const keepsAll = request.method !== 'POST';
    request.body = normalised(request.body as unknown, { keepsAll, depth: 0 });
  }
  next();
};
