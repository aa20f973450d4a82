/** The option by which a verb prints what the interface answered instead of a table. */
export const JSON_OPTION = ['--json', 'print the answer of the interface as it is'] as const;

export type JsonOption = { readonly json?: true };

/** Prints what a verb has found: as lines for a reader, or as JSON for a program. */
export function printFound<Found>(
  found: Found,
  linesOf: (found: Found) => readonly string[],
  { json }: JsonOption,
): void {
  console.log(json === true ? JSON.stringify(found) : linesOf(found).join('\n'));
}
