import { ConfigError } from '../config.js';
import { codeOf } from '../failure.js';
import type { ProgramServer } from './program-server.js';

export type ListenAddress = {
  readonly host: string;
  readonly port: number;
  /** The setting that gives the port. */
  readonly setting: 'MINUTEBOOK_PORT' | 'MINUTEBOOK_METRICS_PORT';
};

/**
 * Lets a server listen; resolves with the port.
 * @throws ConfigError when the port is in use or may not be used.
 */
export async function listenOn(
  server: Pick<ProgramServer, 'listen'>,
  { host, port, setting }: ListenAddress,
): Promise<number> {
  try {
    return await server.listen(port, host);
  } catch (error) {
    const code = codeOf(error);
    if (code === null) throw error;
    const reason =
      code === 'EADDRINUSE' ? 'is in use by another program' : `cannot be used (${code})`;
    throw new ConfigError([`${host}:${port} ${reason}: set ${setting} to another port`]);
  }
}

/** Where the HTTP interface of a program listens. */
export function publicAddress(config: {
  readonly MINUTEBOOK_HOST: string;
  readonly MINUTEBOOK_PORT: number;
}): ListenAddress {
  const { MINUTEBOOK_HOST: host, MINUTEBOOK_PORT: port } = config;
  return { host, port, setting: 'MINUTEBOOK_PORT' };
}
