import { sql, type FragmentSqlToken } from 'slonik';
import {
  PROVIDER_ROLES,
  type GatewayName,
} from '../../declarations/exports/connection.resource.js';

const NAMES = Object.entries(PROVIDER_ROLES).flatMap(([name, role]) =>
  role === 'gateway' ? [name] : [],
);

/** Whether a text, such as the provider of a link, names a gateway. */
export const isGatewayName = (text: string | null | undefined): text is GatewayName =>
  NAMES.some((name) => name === text);

/**
 * The column names a gateway, whichever. The names stand in the statement itself, so that an index
 * of just these rows can serve it.
 */
export function isGateway(path: readonly string[]): FragmentSqlToken {
  const names = NAMES.map((name) => sql.literalValue(name));
  return sql.fragment`${sql.identifier([...path])} IN (${sql.join(names, sql.fragment`, `)})`;
}
