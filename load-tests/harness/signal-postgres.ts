import { codeOf } from '../../runtime/failure.js';
import { withSession } from '../../sql/session.js';

/** The processes of a server: itself, all of its sessions and its workers. */
export function postgresProcesses(server: {
  readonly url: string;
  readonly pid: number;
}): Promise<readonly number[]> {
  return withSession(server.url, async (session) => {
    const { rows } = await session.query<{ pid: number }>('SELECT pid FROM pg_stat_activity');
    return [server.pid, ...rows.map(({ pid }) => pid)];
  });
}

/** Ignores a process that has ended already, such as the session that listed the processes. */
export function signalAll(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error;
    }
  }
}
