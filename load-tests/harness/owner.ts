import type { DatabasePool, DatabaseTransactionConnection } from 'slonik';
import { createDatabase, type Database } from '../../sql/pool.js';

/** Statements of the owner, who sees and writes the rows of all environments. */
type OwnerStatements = Pick<
  DatabasePool,
  'query' | 'one' | 'oneFirst' | 'maybeOne' | 'any' | 'anyFirst' | 'many'
> & {
  transaction<T>(work: (connection: DatabaseTransactionConnection) => Promise<T>): Promise<T>;
};

const opened = new Map<string, Promise<Database>>();

/** The database with the rights of its owner, which the commands of an operator have. */
export function ownerDatabase(url: string): Promise<Database> {
  const known = opened.get(url) ?? createDatabase(url, { poolSize: 2, role: 'owner' });
  opened.set(url, known);
  return known;
}

/**
 * What a test prepares or looks up outside of the product. The product's own `Database` works as
 * the programs' role, which may touch no table of a tenant. Opened at its first use.
 */
export function ownerOf({ url }: Pick<Database, 'url'>): OwnerStatements {
  return {
    query: async (statement) => (await ownerDatabase(url)).slonik.query(statement),
    one: async (statement) => (await ownerDatabase(url)).slonik.one(statement),
    oneFirst: async (statement) => (await ownerDatabase(url)).slonik.oneFirst(statement),
    maybeOne: async (statement) => (await ownerDatabase(url)).slonik.maybeOne(statement),
    any: async (statement) => (await ownerDatabase(url)).slonik.any(statement),
    anyFirst: async (statement) => (await ownerDatabase(url)).slonik.anyFirst(statement),
    many: async (statement) => (await ownerDatabase(url)).slonik.many(statement),
    transaction: async (work) => (await ownerDatabase(url)).transaction(work),
  };
}

/** Closes what `ownerOf` opened on this URL. */
export async function closeOwner(url: string): Promise<void> {
  const database = await opened.get(url);
  opened.delete(url);
  await database?.close();
}
