import { sql, type FragmentSqlToken } from 'slonik';
import {
  PROVIDER_ROLES,
  type GatewayName,
} from '../../declarations/exports/connection.resource.js';

/** The name where there is one, else `never`. */
type TheOnly<Name, All = Name> = Name extends unknown
  ? [All] extends [Name]
    ? Name
    : never
  : never;

/**
 * The one gateway. A second one does not compile here: whoever adds it looks at each place that
 * asks for this one, such as whose customer pays, and asks for that of the connection.
 */
export const GATEWAY: TheOnly<GatewayName> = 'stripe';

const NAMES = Object.entries(PROVIDER_ROLES).flatMap(([name, role]) =>
  role === 'gateway' ? [sql.literalValue(name)] : [],
);

/**
 * The column names a gateway, whichever. The names stand in the statement itself, so that an index
 * of just these rows can serve it.
 */
export function isGateway(path: readonly string[]): FragmentSqlToken {
  return sql.fragment`${sql.identifier([...path])} IN (${sql.join(NAMES, sql.fragment`, `)})`;
}
