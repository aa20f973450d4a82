import type { FieldErrors, ValidateError } from '@tsoa/runtime';
import { HttpFailure } from './failure.js';

const EXCESS = /^"(.*)" is an excess property/s;

/** tsoa names the argument first (`body.items.$0.amount`); callers know members only. */
function memberOf(path: string): string {
  return path
    .split('.')
    .slice(1)
    .map((part) => part.replace(/^\$(\d+)$/, '$1'))
    .join('.');
}

/** `body` alone or a parameter of path or query keeps its own name. */
function nameOf(path: string): string {
  const member = memberOf(path);
  return member === '' ? path : member;
}

/** The first of the members that tsoa lists as excess. */
function unknownMember(path: string, message: string): string | null {
  const names = EXCESS.exec(message)?.[1];
  if (names === undefined) return null;
  const first = names.split(',')[0] ?? names;
  const owner = memberOf(path);
  // Excess members of a named object are reported at the object, those of a model at the member.
  return owner === '' ? first : owner.endsWith(first) ? owner : `${owner}.${first}`;
}

/** The answer to a request whose members have wrong types, are missing or unknown. */
export function failureOfValidation(error: ValidateError): HttpFailure {
  const details: Record<string, string> = {};
  const fields: FieldErrors = error.fields;
  let unknown: string | null = null;
  for (const [path, field] of Object.entries(fields)) {
    const excess = unknownMember(path, field.message);
    if (excess === null) details[nameOf(path)] ??= field.message;
    else {
      unknown ??= excess;
      details[excess] = 'is not a member of this request';
    }
  }
  const first = Object.entries(details)[0];
  const message =
    unknown === null
      ? `${first?.[0] ?? 'request'}: ${first?.[1] ?? 'is not valid'}`
      : `${unknown} is not a member of this request`;
  return new HttpFailure(400, 'validation_error', { message: message.slice(0, 500), details });
}
