import { ConfigError, readConfig, type Config, type SettingName } from './config.js';
import { endOnUncaughtErrors, endProgram, Lifecycle } from './lifecycle.js';
import { createLog, type Log } from './log.js';
import type { ProgramName } from './metrics.js';

type CommonSetting = 'MINUTEBOOK_LOG_LEVEL' | 'MINUTEBOOK_STOP_DELAY_MS';

export type Program<Names extends SettingName> = {
  readonly config: Config<Names | CommonSetting>;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
};

/**
 * What a program does first: reads its settings, opens its log, and ends in order on a signal or
 * when the program that started it ends. A setting that cannot be used ends it with status 1 and
 * one line in the log.
 * @param defaults of this program alone.
 */
export function openProgram<Names extends SettingName>(
  name: ProgramName,
  settings: {
    readonly names: readonly Names[];
    readonly defaults?: { readonly [Name in Names | CommonSetting]?: string };
  },
): Program<Names> {
  const { names, defaults = {} } = settings;
  try {
    const config = readConfig<Names | CommonSetting>(
      [...names, 'MINUTEBOOK_LOG_LEVEL', 'MINUTEBOOK_STOP_DELAY_MS'],
      process.env,
      defaults,
    );
    const log = createLog(name, config.MINUTEBOOK_LOG_LEVEL);
    const lifecycle = new Lifecycle(log);
    lifecycle.closeOnSignals(config.MINUTEBOOK_STOP_DELAY_MS);
    endOnUncaughtErrors(log);
    process.on('disconnect', () => void lifecycle.close().then(() => process.exit(0)));
    return { config, log, lifecycle };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return endProgram(error, createLog(name, 'info'));
  }
}
