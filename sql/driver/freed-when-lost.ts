import type { DriverClient } from 'slonik';

/**
 * A client whose place in the pool becomes free when its connection is lost, whatever ran on it.
 * That of slonik 47 waits for the running statement, fails with it, and stays in the pool for ever:
 * after as many losses as the pool has places, nobody gets a connection any more.
 */
export function freedWhenLost(client: DriverClient): DriverClient {
  let hasLeft = false;
  client.on('destroy', () => {
    hasLeft = true;
  });
  const leave: (() => void)[] = [];
  const on = (event: string, listener: () => void): unknown => {
    if (event === 'destroy') leave.push(listener);
    return Reflect.apply(client.on, client, [event, listener]);
  };
  const destroy = async (): Promise<void> => {
    // The running statement fails with this error, so its caller hears of it there.
    await client.destroy().catch(() => undefined);
    if (hasLeft) return;
    hasLeft = true;
    for (const listener of leave) listener();
  };
  const release = async (): Promise<void> => {
    try {
      await client.release();
    } catch (error) {
      await destroy();
      throw error;
    }
  };
  return Object.assign({ ...client, destroy, release }, { on });
}
