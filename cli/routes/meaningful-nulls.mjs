/**
 * The members of the bodies of POSTs that are required and may be null, by the operation: there
 * null is an answer, and does not count as absent (docs/domain.md 3.1).
 */
export function meaningfulNullsOf(paths, schemas) {
  const resolved = (schema) => (schema.$ref ? schemas[schema.$ref.split('/').at(-1)] : schema);
  const isNullable = (reference) => {
    const schema = resolved(reference);
    if (schema.nullable === true || schema.type === 'null') return true;
    if (schema.enum?.includes(null)) return true;
    const parts = [schema.allOf, schema.anyOf, schema.oneOf].flatMap((list) => list ?? []);
    return parts.some(isNullable);
  };
  const found = Object.values(paths).flatMap(({ post }) => {
    const body = post?.requestBody?.content['application/json']?.schema;
    if (body === undefined) return [];
    const { properties = {}, required = [] } = resolved(body);
    const names = required.filter((name) => name in properties && isNullable(properties[name]));
    return names.length === 0 ? [] : [[post.operationId, names]];
  });
  return Object.fromEntries(found);
}
