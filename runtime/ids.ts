import { createUlid } from './ulid.js';

/** Makes ids with a prefix that names the kind of record. Tests use a source that counts. */
export type IdSource = (prefix: string) => string;

/** Ids `<prefix>_<26-character ULID>`: they sort by creation and need no central counter. */
export const createId: IdSource = (prefix) => `${prefix}_${createUlid()}`;
