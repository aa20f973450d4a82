import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';
import type { Servers } from './engines.js';

const POSTGRES_IMAGE = 'postgres:18';
const CLICKHOUSE_IMAGE = 'clickhouse/clickhouse-server:26.7';
const PASSWORD = 'test';

async function hasDocker(): Promise<boolean> {
  try {
    await getContainerRuntimeClient();
    return true;
  } catch {
    return false;
  }
}

/** PostgreSQL and ClickHouse in containers; null when no Docker engine answers. */
export async function startContainers(): Promise<Servers | null> {
  if (!(await hasDocker())) return null;
  const [postgres, clickhouse] = await Promise.all([
    new GenericContainer(POSTGRES_IMAGE)
      .withEnvironment({ POSTGRES_PASSWORD: PASSWORD })
      .withExposedPorts(5432)
      .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
      .start(),
    new GenericContainer(CLICKHOUSE_IMAGE)
      .withEnvironment({ CLICKHOUSE_USER: 'test', CLICKHOUSE_PASSWORD: PASSWORD })
      .withExposedPorts(8123)
      .withWaitStrategy(Wait.forHttp('/ping', 8123))
      .start(),
  ]);
  const postgresAt = `${postgres.getHost()}:${postgres.getMappedPort(5432)}`;
  const clickhouseAt = `${clickhouse.getHost()}:${clickhouse.getMappedPort(8123)}`;
  return {
    postgres: {
      url: `postgres://postgres:${PASSWORD}@${postgresAt}/postgres`,
      stop: async () => void (await postgres.stop()),
    },
    clickhouse: {
      url: `http://test:${PASSWORD}@${clickhouseAt}`,
      stop: async () => void (await clickhouse.stop()),
    },
  };
}
