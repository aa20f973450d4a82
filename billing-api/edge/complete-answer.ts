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

/** Members with one value in all of an answer, such as `tenant_id`; the others are null. */
type Common = Readonly<Record<string, string>>;

/**
 * An answer with every member that typed clients of this domain want. What is there stays as it is,
 * and nothing is changed in place: answers may be made of objects that are kept.
 */
export function completeAnswer(
  { answers, schemas }: AbsentMembers,
  { operationId, answer }: { readonly operationId: string; readonly answer: unknown },
  common: Common,
): unknown {
  const complete = (name: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((each: unknown) => complete(name, each));
    const schema = schemas[name];
    if (!isObject(value) || schema === undefined) return value;
    const completed: Record<string, unknown> = { ...value };
    for (const [member, inner] of Object.entries(schema.inner)) {
      if (completed[member] !== undefined) completed[member] = complete(inner, completed[member]);
    }
    for (const member of schema.absent) {
      if (completed[member] === undefined) completed[member] = common[member] ?? null;
    }
    return completed;
  };
  const schemaName = answers[operationId];
  return schemaName === undefined ? answer : complete(schemaName, answer);
}
