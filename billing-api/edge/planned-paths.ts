/** Paths of operations that docs/http.md describes and marks as planned. */
export const PLANNED_PATHS: readonly string[] = [];

const patterns = PLANNED_PATHS.map(
  (path) => new RegExp(`^${path.replaceAll(/\{[a-z_]+\}/g, '[^/]+')}$`),
);

/** Whether a path is one of an operation that is planned and not built. */
export function isPlannedPath(path: string): boolean {
  return patterns.some((pattern) => pattern.test(path));
}
