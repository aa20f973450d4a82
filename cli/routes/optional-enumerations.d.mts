/** The types of optional-enumerations.mjs, for its test; see there. */
type Schemas = Readonly<Record<string, object>>;
type Paths = Readonly<Record<string, Readonly<Record<string, object>>>>;
export function optionalEnumerationsOf(paths: Paths, schemas: Schemas): readonly string[];
