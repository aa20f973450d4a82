import type { Request, RequestHandler } from 'express';
import { isAbsent } from './absent.js';
import { MEANINGFUL_NULLS } from '../../generated/operations.js';
import { HttpFailure } from '../http-failure.js';
import { operationIfDeclared } from '../operations.js';
import { REST_JSON_LIMITS, TOO_DEEP } from '../rest-json-limits.js';

/** The largest valid request, 100 prices in bulk with 100 tiers each, has fewer members. */
const MEMBERS_MAX = 40_000;
/** No valid object has more; the time to check an object grows faster than its members. */
const OBJECT_MEMBERS_MAX = 1_000;

/** Members whose keys the caller chooses: none of their members is removed. */
const FREE_FORM = new Set(['metadata', 'filter_values', 'property_filters']);

const UNSTORABLE = /\u0000|\p{Surrogate}/u;
const UNSTORABLE_PROBLEM =
  'contains a character that cannot be stored, U+0000 or half of a surrogate pair: leave it out';

function refuse(message: string): never {
  throw new HttpFailure(400, 'validation_error', { message });
}

/** Free-form objects keep every member; filters are free-form unless they are a list. */
function isFreeForm(name: string, value: unknown): boolean {
  return FREE_FORM.has(name) || (name === 'filters' && !Array.isArray(value));
}

function checkName(name: string): void {
  if (UNSTORABLE.test(name)) {
    refuse(`the name of a member ${UNSTORABLE_PROBLEM}`);
  }
}

/** Why a text or a number cannot be stored; null when it can. */
function scalarProblem(value: unknown): string | null {
  if (typeof value === 'string' && UNSTORABLE.test(value)) {
    return UNSTORABLE_PROBLEM;
  }
  // JSON.parse makes infinity of such a number, and JSON.stringify null of that.
  return value === Infinity || value === -Infinity
    ? 'is a number that is too large: send a smaller one'
    : null;
}

function checkScalar(value: unknown, names: readonly string[]): void {
  const problem = scalarProblem(value);
  if (problem === null) return;
  const named = names.join('.').slice(0, 200);
  const member = named.trim() === '' ? `"${named}"` : named;
  const details = { [member]: problem };
  throw new HttpFailure(400, 'validation_error', { message: `${member} ${problem}`, details });
}

type Walk = {
  readonly keepsAll: boolean;
  /** Members of this object that are kept as they are: null is an answer there. */
  readonly kept: readonly string[];
  /** Of the members and elements that lead here. */
  readonly names: readonly string[];
  /** Members of the whole body so far. */
  readonly total: { members: number };
};

/** The members of an object; refuses more than any valid request has. */
function membersOf(value: object, total: Walk['total']): [string, unknown][] {
  const members = Object.entries(value);
  total.members += members.length;
  if (members.length > OBJECT_MEMBERS_MAX) {
    refuse(`an object of the body has more than ${OBJECT_MEMBERS_MAX} members`);
  }
  if (total.members > MEMBERS_MAX) {
    refuse(`the objects of the body have more than ${MEMBERS_MAX} members in total`);
  }
  return members;
}

function normalised(value: unknown, walk: Walk): unknown {
  checkScalar(value, walk.names);
  if (typeof value !== 'object' || value === null) return value;
  if (walk.names.length > REST_JSON_LIMITS.depthMax) refuse(TOO_DEEP);
  const inner = (name: string): Walk => ({ ...walk, kept: [], names: [...walk.names, name] });
  if (Array.isArray(value)) {
    return value.map((item, place) => normalised(item, inner(String(place))));
  }
  const members: [string, unknown][] = [];
  for (const [name, member] of membersOf(value, walk.total)) {
    checkName(name);
    const isKept = walk.keepsAll || walk.kept.includes(name);
    if (!isKept && isAbsent(name, member)) continue;
    const keepsAll = walk.keepsAll || isFreeForm(name, member);
    members.push([name, normalised(member, { ...inner(name), keepsAll })]);
  }
  return Object.fromEntries(members);
}

/** Whether a body comes with the request. */
export function hasBody(request: Request): boolean {
  const length = request.get('content-length');
  return request.get('transfer-encoding') !== undefined || (length !== undefined && length !== '0');
}

/** No database can store U+0000, so an address that contains it is refused. */
export const checkUrl: RequestHandler = (request, _response, next) => {
  if (request.url.includes('%00'))
    refuse('the address contains %00, which cannot be stored: leave it out');
  next();
};

/** The body parser would take any charset that starts with utf-. */
function isUtf8Type(contentType: string): boolean {
  const parameters = contentType.toLowerCase().split(';').slice(1);
  const charsets = parameters
    .map((text) => text.trim())
    .filter((text) => /^charset\s*=/.test(text));
  return charsets.every((charset) => /^charset="?utf-?8"?$/.test(charset));
}

/**
 * A body must say that it is JSON in UTF-8, plain or packed with gzip (docs/http.md 1.1); a request
 * without a body may say anything.
 */
export const requireJson: RequestHandler = (request, _response, next) => {
  if (hasBody(request)) {
    if (request.is('application/json') === false) refuse('Content-Type must be application/json');
    if (!isUtf8Type(request.get('content-type') ?? '')) refuse('the body must be UTF-8');
    const encoding = (request.get('content-encoding') ?? '').trim();
    if (!/^(gzip|identity)?$/i.test(encoding)) {
      refuse('Content-Encoding must be gzip or identity, or be left out');
    }
  }
  next();
};

/**
 * Null members of a POST body count as absent, as do empty texts of optional enumerations and
 * references (docs/domain.md 3.1), unless the operation wants an answer that may be null. In a PUT
 * body null clears a member, so it is left as it is. Texts that no database can store are refused
 * here for all operations.
 */
export const normaliseBody: RequestHandler = (request, _response, next) => {
  if (request.body !== undefined) {
    const keepsAll = request.method !== 'POST';
    request.body = normalised(request.body as unknown, {
      keepsAll,
      // Absent means none: null is no answer in this operation.
      kept: MEANINGFUL_NULLS[operationIfDeclared(request)?.id ?? ''] ?? [],
      names: [],
      total: { members: 0 },
    });
  }
  next();
};
