import type { QueryParameters } from '../../../clickhouse/client.js';
import { assertPresent } from '../../../runtime/failure.js';
import { queryFile } from '../../../clickhouse/query-file.js';

/** A statement in which `$name$` stands for a piece of SQL that is made here, never for a text. */
export function readTemplate(name: string): string {
  return queryFile(name).replaceAll(/^--.*\n/gmu, '');
}

/** @throws AssertionFailed when a piece is missing. */
export function fillTemplate(template: string, pieces: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\$(\w+)\$/gu, (_, name: string) =>
    assertPresent(pieces[name], `the piece ${name} of a statement`),
  );
}

/**
 * The server takes at most 131 072 bytes in one parameter; so many characters stay below, escaped
 * and in any alphabet.
 */
const LIST_CHARACTERS_MAX = 15_000;

type Value = string | number;
type ListType = 'String' | 'Int64' | 'UInt64';

function* chunksOf(values: readonly Value[]): Generator<readonly Value[]> {
  let chunk: Value[] = [];
  let characters = 0;
  for (const value of values) {
    const length = String(value).length + 3;
    if (chunk.length > 0 && characters + length > LIST_CHARACTERS_MAX) {
      yield chunk;
      chunk = [];
      characters = 0;
    }
    chunk.push(value);
    characters += length;
  }
  yield chunk;
}

/** Values of one statement: each gets one placeholder, none becomes a part of the text. */
export class Bindings {
  readonly #parameters: Record<string, string | number | readonly Value[]> = {};
  readonly #known = new Map<string, string>();

  get parameters(): QueryParameters {
    return this.#parameters;
  }

  #add(value: string | number | readonly Value[], type: string): string {
    const known = `${type} ${JSON.stringify(value)}`;
    const name = this.#known.get(known) ?? `p${this.#known.size}`;
    this.#known.set(known, name);
    this.#parameters[name] = value;
    return `{${name}:${type}}`;
  }

  text(value: string): string {
    return this.#add(value, 'String');
  }

  integer(value: number): string {
    return this.#add(value, 'Int64');
  }

  /** That a column has one of the values; of one value it takes the server less to prepare. */
  isOneOf(column: string, values: readonly Value[], type: ListType): string {
    const [only, ...others] = values;
    if (only !== undefined && others.length === 0) return `${column} = ${this.#add(only, type)}`;
    return `${column} IN (${this.list(values, type)})`;
  }

  /** A list of any length, as one array of the server's type. */
  list(values: readonly Value[], type: ListType): string {
    const pieces = [...chunksOf(values)].map((chunk) => this.#add(chunk, `Array(${type})`));
    const [only, ...others] = pieces;
    const isOne = only !== undefined && others.length === 0;
    return isOne ? only : `arrayConcat(${pieces.join(', ')})`;
  }
}
