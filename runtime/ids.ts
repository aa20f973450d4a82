import { createUlid } from './ulid.js';

/** Every kind of identifier and its prefix (api.md 1.8). */
export type IdPrefix =
  | 'event'
  | 'meter'
  | 'feat'
  | 'plan'
  | 'price'
  | 'ent'
  | 'bucket'
  | 'cust'
  | 'subs'
  | 'subs_line'
  | 'inv'
  | 'inv_line'
  | 'secret'
  | 'user'
  | 'tenant'
  | 'env';

/** Makes identifiers; tests pass one that counts. */
export type IdSource = (prefix: IdPrefix) => string;

/** `<prefix>_<26-character ULID>`: sortable by creation, unique without asking anyone. */
export const createId: IdSource = (prefix) => `${prefix}_${createUlid()}`;
