type Check = { readonly name: string; readonly findings: string | null };
type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number };

export declare function runChecks(say: (text: string) => void): Promise<readonly Check[]>;
export declare function endOfRun(
  checks: readonly Check[],
  counts: Counts | null,
): readonly string[];
