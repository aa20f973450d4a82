import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import { describe, expect } from 'vitest';
import { test as base } from '../load-tests/harness/fixtures.js';
import { projectRoot } from '../runtime/project.js';
import { ensureProgramsLogin, withLogin } from './programs-role.js';
import { withSession } from './session.js';

const ENVIRONMENT = ['tenant_a', 'env_1'] as const;

/** Tables whose rows belong to a tenant, with or without a column that says so. */
const TENANT_TABLES = `
  SELECT relation.relname AS name, relation.relrowsecurity AS is_enabled,
    relation.relforcerowsecurity AS is_forced
  FROM pg_class AS relation
  WHERE relation.relnamespace = 'public'::regnamespace AND relation.relkind IN ('r', 'p', 'm', 'v')
    AND (relation.relname = 'tenants'
      OR EXISTS (SELECT FROM pg_attribute AS member
                 WHERE member.attrelid = relation.oid AND member.attname = 'tenant_id'))
  ORDER BY 1`;

type TenantTable = { name: string; is_enabled: boolean; is_forced: boolean };

async function tenantTables(session: Client): Promise<readonly TenantTable[]> {
  return (await session.query<TenantTable>(TENANT_TABLES)).rows;
}

/** Rows that a statement reached; null when the server refused it for want of a right. */
async function reached(session: Client, statement: string): Promise<number | null> {
  await session.query('BEGIN');
  try {
    return (await session.query(statement)).rowCount;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === '42501') return null;
    // A constraint of the table is checked after its policies: the row would have been written.
    if (code.startsWith('23')) return 1;
    throw error;
  } finally {
    await session.query('ROLLBACK');
  }
}

/** Tables of which a login can see or write a row in this role, having entered no environment. */
async function openTables(
  logins: { readonly owner: string; readonly programs: string },
  role: string,
): Promise<readonly string[]> {
  const tables = await withSession(logins.owner, tenantTables);
  return withSession(logins.programs, async (session) => {
    await session.query(`SET ROLE ${role}`);
    const open = [];
    for (const { name } of tables) {
      const row = `jsonb_populate_record(NULL::${name},
        '{"id": "1", "tenant_id": "tenant_a", "environment_id": "env_1"}')`;
      const counts = [
        await reached(session, `SELECT * FROM ${name}`),
        await reached(session, `DELETE FROM ${name}`),
        await reached(session, `INSERT INTO ${name} OVERRIDING SYSTEM VALUE SELECT (${row}).*`),
      ];
      if (counts.some((count) => count !== null && count > 0)) open.push(name);
    }
    return open;
  });
}

/** A database with a row in some tables of a tenant, and a login of the programs. */
const test = base.extend<{ readonly logins: { owner: string; programs: string } }>({
  logins: async ({ database: { url } }, use) => {
    const name = `test_login_${randomBytes(6).toString('hex')}`;
    const login = { user: name, password: randomBytes(12).toString('hex') };
    await ensureProgramsLogin(url, login);
    await withSession(url, (session) =>
      session.query(`
        INSERT INTO tenants (id, name) VALUES ('tenant_a', 'A');
        INSERT INTO environments (id, tenant_id, name, type) VALUES ('env_1', 'tenant_a', 'One', 'production');
        INSERT INTO users (id, tenant_id) VALUES ('user_1', 'tenant_a');
        INSERT INTO secrets (id, tenant_id, environment_id, user_id, name, type, key_hash, display_id)
          VALUES ('secret_1', 'tenant_a', 'env_1', 'user_1', 'key', 'private_key', sha256('x'), 'x');
        INSERT INTO meters (id, tenant_id, environment_id, name, event_name, filters, aggregation_type,
            reset_usage, version, read_version, metadata, status, created_at, updated_at)
          VALUES ('meter_1', 'tenant_a', 'env_1', 'M', 'call', '[]', 'COUNT', 'NEVER', 1, 1, '{}',
            'published', now(), now());`),
    );
    try {
      await use({ owner: url, programs: withLogin(url, login) });
    } finally {
      await withSession(url, (session) => session.query(`DROP ROLE ${name}`));
    }
  },
});

describe('row-level security', () => {
  test('is enabled and forced on every table with rows of a tenant', async ({ logins }) => {
    const tables = await withSession(logins.owner, tenantTables);
    expect(tables.length).toBeGreaterThanOrEqual(14);
    const open = tables.filter((table) => !table.is_enabled || !table.is_forced);
    expect(open).toEqual([]);
  });

  test.for(['minutebook_programs', 'minutebook_app'])(
    'lets the login of the programs as %s see and write no row without an environment',
    async (role, { logins }) => {
      expect(await openTables(logins, role)).toEqual([]);
      // A table that forgets it is found.
      await withSession(logins.owner, (session) =>
        session.query(`CREATE TABLE forgotten (id text, tenant_id text NOT NULL);
          GRANT ALL ON forgotten TO ${role};`),
      );
      expect(await openTables(logins, role)).toEqual(['forgotten']);
    },
  );

  test('lets the login itself, in no role, see nothing at all', async ({ logins }) => {
    const seen = await withSession(logins.programs, async (session) => {
      const counts = [];
      for (const { name } of await tenantTables(session))
        counts.push(await reached(session, `SELECT * FROM ${name}`));
      return counts;
    });
    expect(seen.every((count) => count === null)).toBe(true);
  });

  test('hides the rows from a role that comes to own a table by mistake', async ({ logins }) => {
    const count = await withSession(logins.owner, async (session) => {
      const table = 'meters';
      const user = new URL(logins.programs).username;
      const { rows } = await session.query<{ owner: string }>('SELECT current_user AS owner');
      await session.query(`GRANT CREATE ON SCHEMA public TO ${user}`);
      await session.query(`ALTER TABLE ${table} OWNER TO ${user}`);
      const seen = await withSession(logins.programs, (other) =>
        reached(other, `SELECT * FROM ${table}`),
      );
      await session.query(`ALTER TABLE ${table} OWNER TO ${rows[0]?.owner ?? ''}`);
      await session.query(`REVOKE CREATE ON SCHEMA public FROM ${user}`);
      return seen;
    });
    expect(count).toBe(0);
  });
});

describe('the programs', () => {
  test('log in as a role that owns nothing and is bound by row-level security', async ({
    logins,
  }) => {
    const name = new URL(logins.programs).username;
    const facts = await withSession(logins.owner, (session) =>
      session.query(
        `SELECT rolname AS name, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolinherit,
           (SELECT count(*)::integer FROM pg_shdepend
            WHERE refclassid = 'pg_authid'::regclass AND refobjid = roles.oid AND deptype = 'o') AS owned
         FROM pg_roles AS roles WHERE rolname IN ('minutebook_programs', 'minutebook_app', $1)
         ORDER BY rolname`,
        [name],
      ),
    );
    const bound = { rolsuper: false, rolbypassrls: false, rolcreaterole: false, owned: 0 };
    expect(facts.rows).toHaveLength(3);
    for (const row of facts.rows as object[]) {
      expect(row).toMatchObject({ ...bound, rolcreatedb: false });
    }
  });

  test('cannot become the owner', async ({ logins }) => {
    const becoming = withSession(logins.programs, (session) =>
      session.query(`SET ROLE ${new URL(logins.owner).username}`),
    );
    await expect(becoming).rejects.toThrow();
  });
});

type Definer = { name: string; settings: string[] | null };

async function definers(owner: string): Promise<readonly Definer[]> {
  const found = await withSession(owner, (session) =>
    session.query<Definer>(
      `SELECT proname AS name, proconfig AS settings FROM pg_proc
       WHERE pronamespace = 'public'::regnamespace AND prosecdef ORDER BY proname`,
    ),
  );
  return found.rows;
}

describe('functions that run as the owner, outside row-level security', () => {
  test('look names up in public only, temporary objects last', async ({ logins }) => {
    const all = await definers(logins.owner);
    expect(all.length).toBeGreaterThan(0);
    const careless = all.filter(({ settings }) => settings?.[0] !== 'search_path=public, pg_temp');
    expect(careless).toEqual([]);
  });

  test('may not be called by just anybody', async ({ logins }) => {
    const open = await withSession(logins.owner, (session) =>
      session.query(
        `SELECT proname FROM pg_proc AS routine, aclexplode(coalesce(proacl, acldefault('f', proowner))) AS given
         WHERE pronamespace = 'public'::regnamespace AND prosecdef AND prorettype <> 'trigger'::regtype
           AND given.grantee = 0`,
      ),
    );
    expect(open.rows).toEqual([]);
  });

  test('are those that D-014 names', async ({ logins }) => {
    const named = (await definers(logins.owner)).map(({ name }) => name);
    const decision =
      readFileSync(join(projectRoot, 'docs/internals/architecture.md'), 'utf8')
        .split('### D-014')[1]
        ?.split('\n## ')[0] ?? '';
    const listed = [...decision.matchAll(/`([a-z_]+)\(\)`/g)].map((match) => match[1]).sort();
    expect(listed).toEqual(named);
  });

  const CALLS = {
    activate_meter_version: `SELECT activate_meter_version('meter_1', 2, 'tenant_a', 'env_1', 'call', '[]')`,
    'activate_meter_version with the own tenant': `SELECT activate_meter_version('meter_1', 2, 'tenant_b', 'env_2', 'call', '[]')`,
    revert_meter_version: `SELECT revert_meter_version('meter_1', 2, 1)`,
    end_meter: `SELECT end_meter('meter_1')`,
  };
  test.for(Object.entries(CALLS))(
    'refuse the meter of another environment: %s',
    async ([, call], { logins }) => {
      const calling = withSession(logins.programs, async (session) => {
        await session.query('SET ROLE minutebook_app');
        await session.query(
          `SELECT set_config('minutebook.tenant_id', 'tenant_b', false),
                  set_config('minutebook.environment_id', 'env_2', false)`,
        );
        await session.query(call);
      });
      await expect(calling).rejects.toMatchObject({ code: '42501' });
    },
  );

  test('refuse a meter when the session has entered no environment', async ({ logins }) => {
    const calling = withSession(logins.programs, async (session) => {
      await session.query('SET ROLE minutebook_app');
      await session.query(CALLS.end_meter);
    });
    await expect(calling).rejects.toMatchObject({ code: '42501' });
  });

  test('do for the own meter what they are for', async ({ logins }) => {
    const { rows } = await withSession(logins.programs, async (session) => {
      await session.query('SET ROLE minutebook_app');
      await session.query(
        `SELECT set_config('minutebook.tenant_id', $1, false),
                set_config('minutebook.environment_id', $2, false)`,
        [...ENVIRONMENT],
      );
      await session.query(CALLS.activate_meter_version);
      return session.query('SELECT version FROM meter_versions');
    });
    expect(rows).toEqual([{ version: 2 }]);
  });

  test('revoke keys of the own tenant only, and none without a tenant', async ({ logins }) => {
    const revoke = `SELECT revoke_keys_of_user('user_1', now(), 'user_2')`;
    const left = (): Promise<number | null> =>
      withSession(logins.owner, (session) =>
        reached(session, `SELECT * FROM secrets WHERE status = 'published'`),
      );
    await withSession(logins.programs, async (session) => {
      await session.query('SET ROLE minutebook_app');
      await expect(session.query(revoke)).rejects.toMatchObject({ code: '42501' });
      await session.query(`SELECT set_config('minutebook.tenant_id', 'tenant_b', false)`);
      await session.query(revoke);
      expect(await left()).toBe(1);
      await session.query(`SELECT set_config('minutebook.tenant_id', 'tenant_a', false)`);
      await session.query(revoke);
      expect(await left()).toBe(0);
    });
  });

  const BOUNDS = [
    `SELECT remove_expired_keys(now(), 10001)`,
    `SELECT remove_expired_keys(now(), 0)`,
    `SELECT remove_expired_keys(NULL, 1)`,
    `SELECT retire_unread_meter_versions(interval '-1 hour', 1)`,
    `SELECT retire_unread_meter_versions(interval '1 hour', 0)`,
    `SELECT note_keys_used('{}', '{}')`,
    `SELECT note_keys_used('{secret_1}', '{}')`,
  ];
  test.for(BOUNDS)('refuse arguments beyond their bounds: %s', async (call, { logins }) => {
    const calling = withSession(logins.programs, async (session) => {
      await session.query('SET ROLE minutebook_programs');
      await session.query(call);
    });
    await expect(calling).rejects.toMatchObject({ code: '22023' });
  });
});
