import { Decimal, parseRequestDecimal } from '../../contract/number/decimal.js';
import { parseInstant, type InstantMs } from '../../contract/instant.js';
import { timezoneNamed } from '../domain/calendar/local-time.js';
import { minorDigitsOf } from '../domain/money/minor-digits.js';
import { invalid, type Refusal, type RefusalDetails } from './refusal.js';

/** 1900-01-01 and 2300-01-01: what every store can hold, with room for time zones. */
const INSTANT_MIN = Date.UTC(1900, 0, 1);
const INSTANT_END = Date.UTC(2300, 0, 1);

/** One `@`, something before it, and a host of dot-separated names; addresses are not resolved. */
const EMAIL = /^[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)*$/;

/** Control characters, ends of lines, and what turns the direction of writing around. */
const CONTROL = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;

const METADATA_KEYS_MAX = 50;
const METADATA_KEY_LENGTH_MAX = 100;
const METADATA_VALUE_LENGTH_MAX = 10_000;

/** What is wrong with a text that `readInstant` refuses. */
export const INSTANT_FORM =
  'a date-time with Z or an offset from 1900 to 2299, such as "2026-01-31T10:00:00Z"';
export const INSTANT_PROBLEM = `must be ${INSTANT_FORM}`;

/** A date-time of a request (docs/domain.md 3.1), from 1900 up to but not including 2300. */
export function readInstant(text: string): InstantMs | null {
  const instant = parseInstant(text);
  return instant === null || instant < INSTANT_MIN || instant >= INSTANT_END ? null : instant;
}

/** What is wrong with an end that lies before its start; null when one of them is absent. */
export function endProblem(
  startMember: string,
  startMs: InstantMs | null,
  endMs: InstantMs | null,
): string | null {
  const isEarly = startMs !== null && endMs !== null && endMs < startMs;
  return isEarly ? `must not be before ${startMember}` : null;
}

/** What is wrong with the metadata of a request; null for good ones. */
function metadataProblem(metadata: Readonly<Record<string, unknown>>): string | null {
  const entries = Object.entries(metadata);
  if (entries.length > METADATA_KEYS_MAX) return `must have at most ${METADATA_KEYS_MAX} keys`;
  for (const [key, value] of entries) {
    if (key.length < 1 || key.length > METADATA_KEY_LENGTH_MAX) {
      return `must have keys of 1 to ${METADATA_KEY_LENGTH_MAX} characters`;
    }
    if (!['string', 'number', 'boolean'].includes(typeof value)) {
      return `${key} must be a text, a number or a boolean`;
    }
    if (typeof value === 'string' && value.length > METADATA_VALUE_LENGTH_MAX) {
      return `${key} must have at most ${METADATA_VALUE_LENGTH_MAX} characters`;
    }
  }
  return null;
}

type Given<Members extends object> = {
  readonly [Name in keyof Members]?: Exclude<Members[Name], undefined>;
};

/** The members without those that are undefined: what a change writes. */
export function givenOf<Members extends object>(members: Members): Given<Members> {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  // Only undefined members are missing, which TypeScript cannot see.
  return Object.fromEntries(given) as Given<Members>;
}

const DECIMAL_PROBLEMS = {
  not_a_decimal: 'must be a decimal number as text, such as "12.50"',
  too_many_fraction_digits: 'must have at most 18 digits after the decimal point',
  too_large: 'must be at most 1000000000000',
};

/**
 * Reads members of one request and gathers what is wrong with them, so that an answer names every
 * problem at once. A reading method gives null both for an absent and for a bad member; `refusal`
 * tells at the end whether there was a bad one.
 */
export class MemberReader {
  readonly #problems: Record<string, string> = {};

  /** Notes a problem of a member; the first one of a member stays. */
  note(member: string, problem: string | null): void {
    if (problem !== null) this.#problems[member] ??= problem;
  }

  instant(member: string, text: string | undefined): InstantMs | null {
    if (text === undefined) return null;
    const instant = readInstant(text);
    if (instant === null) this.note(member, INSTANT_PROBLEM);
    return instant;
  }

  decimal(member: string, text: string | undefined): Decimal | null {
    if (text === undefined) return null;
    const value = parseRequestDecimal(text);
    if (value instanceof Decimal) return value;
    this.note(member, DECIMAL_PROBLEMS[value]);
    return null;
  }

  /** A factor on money beyond a commitment (docs/domain.md 11.6): 1 or more. */
  overageFactor(member: string, text: string | undefined): Decimal | null {
    const factor = this.decimal(member, text);
    if (factor?.lessThan(1) === true) this.note(member, 'must be 1 or more');
    return factor;
  }

  /** An amount or a quantity that somebody commits to. */
  positive(member: string, text: string | undefined): Decimal | null {
    const value = this.decimal(member, text);
    if (value?.greaterThan(0) === false) this.note(member, 'must be greater than 0');
    return value;
  }

  /** Money that somebody states: no finer than the currency, so that nothing has to be rounded. */
  minorDigits(member: string, amount: Decimal, currency: string): void {
    const digits = minorDigitsOf(currency);
    if (amount.decimalPlaces() <= digits) return;
    this.note(member, `must have at most ${digits} fraction digits, as ${currency} has`);
  }

  /** A name of the IANA database, in its canonical spelling. */
  timezone(member: string, text: string | undefined): string | null {
    if (text === undefined) return null;
    const timezone = timezoneNamed(text);
    if (timezone === null)
      this.note(member, 'must be a time zone of the IANA database, such as Europe/Berlin');
    return timezone;
  }

  /** Three letters, in lower case. */
  currency(member: string, text: string): string {
    if (!/^[A-Za-z]{3}$/.test(text))
      this.note(member, 'must be a three-letter currency code, such as usd');
    return text.toLowerCase();
  }

  /** A text that must have more than blanks in it, without the blanks around it. */
  name(member: string, text: string): string {
    const trimmed = text.trim();
    if (trimmed === '') this.note(member, 'must not be empty');
    return trimmed;
  }

  /** A name that stands in one line of a paper: no line breaks, nothing that controls print. */
  line(member: string, text: string): string {
    if (CONTROL.test(text)) this.note(member, 'must be one line, without control characters');
    return this.name(member, text);
  }

  email(member: string, text: string): string {
    if (!EMAIL.test(text)) this.note(member, 'must be an e-mail address');
    return text;
  }

  metadata(
    metadata: Readonly<Record<string, string | number | boolean>> | undefined,
    member = 'metadata',
  ): Readonly<Record<string, string | number | boolean>> {
    if (metadata !== undefined) this.note(member, metadataProblem(metadata));
    return metadata ?? {};
  }

  /** As `name`, of a change: undefined leaves the member. */
  changedName(member: string, text: string | undefined): string | undefined {
    return text === undefined ? undefined : this.line(member, text);
  }

  /** As `instant`, of a change: undefined leaves the member, null clears it. */
  changedInstant(member: string, text: string | null | undefined): InstantMs | null | undefined {
    return text === undefined ? undefined : this.instant(member, text ?? undefined);
  }

  /** As `metadata`, of a change: undefined leaves them, null takes all away. */
  changedMetadata(
    metadata: Readonly<Record<string, string | number | boolean>> | null | undefined,
  ): Readonly<Record<string, string | number | boolean>> | undefined {
    return metadata === undefined ? undefined : this.metadata(metadata ?? {});
  }

  /** Refuses members that are not built yet, so that none is silently ignored. */
  rejectUnsupported(request: object, members: readonly string[]): void {
    for (const member of members) {
      const value: unknown = Object.entries(request).find(([name]) => name === member)?.[1];
      if (value !== undefined && value !== false) this.note(member, 'is not available yet');
    }
  }

  /** Every problem so far, or null. */
  refusal(): Refusal | null {
    const problems: RefusalDetails = this.#problems;
    return Object.keys(problems).length === 0 ? null : invalid(problems);
  }
}
