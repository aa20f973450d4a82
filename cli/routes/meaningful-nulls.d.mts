/** The types of meaningful-nulls.mjs, for its test; see there. */
type Schemas = Readonly<Record<string, object>>;
type Paths = Readonly<Record<string, Readonly<Record<string, object>>>>;
export function meaningfulNullsOf(
  paths: Paths,
  schemas: Schemas,
): Readonly<Record<string, readonly string[]>>;
