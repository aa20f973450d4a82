import type { Controller } from '@tsoa/runtime';
import type { Request } from 'express';
import { HttpFailure } from './http-failure.js';

const TAG = /^(?:W\/)?"?(\d{1,10})"?$/;

/** Whether `If-Match` allows this version; absent and `*` allow every one. */
function isMatch(header: string | undefined, version: number): boolean {
  if (header === undefined || header.trim() === '*') return true;
  return header.split(',').some((tag) => Number(TAG.exec(tag.trim())?.[1] ?? NaN) === version);
}

/** Which versions a record may have for `If-Match` to allow its change (docs/http.md 1.4). */
export function expectedVersions(request: Request): (version: number) => boolean {
  const header = request.get('if-match');
  return (version) => isMatch(header, version);
}

/** Sets `ETag` to the version of a record that was written. */
export function tagVersion(controller: Controller, version: number): void {
  controller.setHeader('ETag', `"${version}"`);
}

/**
 * Sets `ETag` to the version of a record that was read.
 * @throws HttpFailure 409 when `If-Match` names other versions (docs/http.md 1.4).
 */
export function tagReadVersion(controller: Controller, request: Request, version: number): void {
  if (!isMatch(request.get('if-match'), version)) {
    const message = `the record has version ${version}; read it again`;
    throw new HttpFailure(409, 'version_conflict', { message });
  }
  tagVersion(controller, version);
}
