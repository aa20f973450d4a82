/**
 * The names of the optional enumerations that requests take, in their bodies and their queries: an
 * empty text of one counts as absent (docs/domain.md 3.1).
 */
export function optionalEnumerationsOf(paths, schemas) {
  const names = new Set();
  const seen = new Set();
  const resolved = (schema) => (schema.$ref ? schemas[schema.$ref.split('/').at(-1)] : schema);
  const partsOf = (schema) =>
    [schema.allOf, schema.anyOf, schema.oneOf].flatMap((list) => list ?? []);
  const isEnumeration = (schema) => {
    const { enum: values, ...rest } = resolved(schema);
    // An enumeration of null alone says that a member may be null.
    if (values !== undefined) return values.some((value) => typeof value === 'string');
    return partsOf(rest).some(isEnumeration);
  };
  const visit = (reference) => {
    const schema = resolved(reference);
    if (seen.has(schema)) return;
    seen.add(schema);
    const { properties = {}, required = [], items, additionalProperties } = schema;
    for (const [name, member] of Object.entries(properties)) {
      if (!required.includes(name) && isEnumeration(member)) names.add(name);
      visit(member);
    }
    for (const part of partsOf(schema)) visit(part);
    if (items !== undefined) visit(items);
    if (typeof additionalProperties === 'object') visit(additionalProperties);
  };
  for (const { parameters = [], requestBody } of Object.values(paths).flatMap(Object.values)) {
    for (const { in: place, name, required, schema } of parameters) {
      if (place === 'query' && !required && isEnumeration(schema)) names.add(name);
    }
    const body = requestBody?.content['application/json']?.schema;
    if (body !== undefined) visit(body);
  }
  return [...names].sort();
}
