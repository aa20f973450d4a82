import type { CommonQueryMethods } from 'slonik';
import type { ClickHouseQueries } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import { isObject } from '../../contract/is-object.js';
import type { Database } from '../../sql/pool.js';

/** Hands the text of every statement of a connection to `note`. */
function watched<Connection extends CommonQueryMethods>(
  connection: Connection,
  note: (text: string) => void,
): Connection {
  return new Proxy(connection, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]): unknown => {
        const [statement] = parameters;
        note(isObject(statement) ? String(statement['sql']) : String(name));
        return Reflect.apply(member, target, parameters) as unknown;
      };
    },
  });
}

/**
 * The texts of the statements that `work` sends in transactions of its environment, in their order.
 * What begins and ends a transaction is left out. Nothing else may use the database meanwhile.
 */
export async function statementsOf(
  database: Database,
  work: () => Promise<unknown>,
): Promise<readonly string[]> {
  const texts: string[] = [];
  const note = (text: string): void => void texts.push(text);
  const { asEnvironment, readSnapshot } = database;
  database.asEnvironment = (environment, run) =>
    asEnvironment.call(database, environment, (connection, testClock) =>
      run(watched(connection, note), testClock),
    ) as ReturnType<typeof run>;
  database.readSnapshot = (environment, run) =>
    readSnapshot.call(database, environment, (connection, testClock) =>
      run(watched(connection, note), testClock),
    ) as ReturnType<typeof run>;
  try {
    await work();
  } finally {
    Object.assign(database, { asEnvironment, readSnapshot });
  }
  return texts;
}

/** Both stores, with counters of the statements that are sent to them. */
export class CountedStores {
  postgres = 0;
  clickHouse = 0;

  constructor(
    private readonly engines: {
      readonly database: Database;
      readonly clickHouse: ClickHouseQueries;
    },
  ) {}

  /** How many statements `work` sends. */
  async during(work: () => Promise<unknown>): Promise<{ postgres: number; clickHouse: number }> {
    const { postgres, clickHouse } = this;
    await work();
    return { postgres: this.postgres - postgres, clickHouse: this.clickHouse - clickHouse };
  }

  /** What begins and ends a transaction is not counted. */
  get database(): Database {
    const counted = this.#counted(this.engines.database.slonik);
    const readSnapshot: Database['readSnapshot'] = (environment: Environment, work) =>
      this.engines.database.readSnapshot(environment, (connection, testClock) =>
        work(this.#counted(connection), testClock),
      );
    const asEnvironment: Database['asEnvironment'] = (environment, work) =>
      this.engines.database.asEnvironment(environment, (connection, testClock) =>
        work(this.#counted(connection), testClock),
      );
    return new Proxy(this.engines.database, {
      get: (target, name) => {
        if (name === 'slonik') return counted;
        if (name === 'readSnapshot') return readSnapshot;
        if (name === 'asEnvironment') return asEnvironment;
        return Reflect.get(target, name) as unknown;
      },
    });
  }

  #counted<Connection extends CommonQueryMethods>(connection: Connection): Connection {
    return watched(connection, () => {
      this.postgres += 1;
    });
  }

  get queries(): ClickHouseQueries {
    const { clickHouse } = this.engines;
    return {
      query: (...asked) => {
        this.clickHouse += 1;
        return clickHouse.query(...asked);
      },
      visitRows: (...asked) => {
        this.clickHouse += 1;
        return clickHouse.visitRows(...asked);
      },
    };
  }
}
