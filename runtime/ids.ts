import { createUlid } from './ulid.js';

/** Makes identifiers of a prefix, which names the kind of record; tests pass one that counts. */
export type IdSource = (prefix: string) => string;

/** `<prefix>_<26-character ULID>`: sortable by creation, unique without asking anyone. */
export const createId: IdSource = (prefix) => `${prefix}_${createUlid()}`;
