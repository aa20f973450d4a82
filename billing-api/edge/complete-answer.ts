import { isObject } from '../../contract/is-object.js';

type SchemaMembers = {
  /** Members that are added where an answer has none of them. */
  readonly absent: readonly string[];
  /** Members to look into, and the schema of what they hold. */
  readonly inner: Readonly<Record<string, string>>;
};

/** What is added to answers (docs/http.md 18): written by the build. */
export type AbsentMembers = {
  /** By operation, the schema of its answer. */
  readonly answers: Readonly<Record<string, string>>;
  readonly schemas: Readonly<Record<string, SchemaMembers>>;
};

/** A schema of answers, with those of what its members hold. */
export type AnswerSchema = {
  readonly absent: readonly string[];
  readonly inner: ReadonlyMap<string, AnswerSchema>;
};

/** Members with one value in all of an answer, such as `tenant_id`; the others are null. */
type Common = Readonly<Record<string, string>>;

/** By operation, the schema of an answer to which something is added; schemas can be circular. */
export function answerSchemas({
  answers,
  schemas,
}: AbsentMembers): ReadonlyMap<string, AnswerSchema> {
  const known = new Map<string, AnswerSchema>();
  const schemaOf = (name: string): AnswerSchema | null => {
    const found = known.get(name);
    const declared = schemas[name];
    if (found !== undefined || declared === undefined) return found ?? null;
    const inner = new Map<string, AnswerSchema>();
    const schema = { absent: declared.absent, inner };
    known.set(name, schema);
    for (const [member, innerName] of Object.entries(declared.inner)) {
      const held = schemaOf(innerName);
      if (held !== null) inner.set(member, held);
    }
    return schema;
  };
  const byOperation = Object.entries(answers).flatMap(([operation, name]) => {
    const schema = schemaOf(name);
    return schema === null ? [] : [[operation, schema] as const];
  });
  return new Map(byOperation);
}

/**
 * Makes an answer one with every member that typed clients of this domain want. What is there stays
 * as it is, and nothing is changed in place: answers may be made of objects that are kept. Without
 * a schema an answer stays as it is.
 */
export function createCompleter(common: Common) {
  const complete = (schema: AnswerSchema | undefined, answer: unknown): unknown => {
    if (schema === undefined) return answer;
    if (Array.isArray(answer)) return answer.map((each: unknown) => complete(schema, each));
    if (!isObject(answer)) return answer;
    const completed: Record<string, unknown> = { ...answer };
    for (const [member, inner] of schema.inner) {
      const held = completed[member];
      if (held !== undefined) completed[member] = complete(inner, held);
    }
    for (const member of schema.absent) {
      if (completed[member] === undefined) completed[member] = common[member] ?? null;
    }
    return completed;
  };
  return complete;
}
