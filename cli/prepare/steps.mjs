/** How often the seconds of the step under way are written anew at a terminal. */
const TICK_MS = 1_000;

/** A step failed; its output has been shown. `exitCode` is that of the tool. */
export class StepFailed extends Error {
  constructor(exitCode) {
    super(`a step ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/**
 * Says what is done before a command starts: one line a step, which ends with its seconds. At a
 * terminal they count up while the step runs; elsewhere, as in CI, each character is written once.
 * A step is a function that resolves to the exit code and the output of a tool, which is shown when
 * the tool has failed.
 * @param output where the lines go, such as standard error
 */
export function createSteps(output, environment = process.env) {
  const isLive = output.isTTY === true && (environment.CI ?? '') === '';
  return async function step(text, work) {
    const startedAt = performance.now();
    const seconds = (digits) => `${((performance.now() - startedAt) / 1000).toFixed(digits)} s`;
    output.write(`${text} …`);
    const tick = () => output.write(`\r${text} … ${seconds(0)}`);
    const ticking = isLive ? setInterval(tick, TICK_MS) : undefined;
    const { code, said } = await work().finally(() => clearInterval(ticking));
    const end = code === 0 ? seconds(1) : `failed after ${seconds(1)}`;
    output.write(`${isLive ? `\r${text} …` : ''} ${end}\n`);
    if (code === 0) return;
    output.write(`${said.trim()}\n`);
    throw new StepFailed(code);
  };
}
