/** The types of operations.mjs, for its test; see there. */
type Paths = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
type Row = { readonly method: string; readonly path: string };
export function operationsOf(paths: Paths): readonly (Row & Readonly<Record<string, unknown>>)[];
export function checkRoutes(operations: readonly Row[], routesText: string): void;
