type Outcome = { readonly code: number; readonly said: string };
type Output = { readonly isTTY?: boolean; write(text: string): unknown };
type Environment = Readonly<Record<string, string | undefined>>;

export declare class StepFailed extends Error {
  constructor(exitCode: number);
  readonly exitCode: number;
}

export declare function createSteps(
  output: Output,
  environment?: Environment,
): (text: string, work: () => Promise<Outcome>) => Promise<void>;
